"""Datadog's intake of external evaluations: ids in decimal, labels in its letters, `source:otel` for spans over OTLP.

The same label on the same span with the same time is the same evaluation.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.backends.stand_in import StandIn, Strict


class _Span(Strict):
    span_id: str = Field(pattern=r"^[1-9][0-9]{0,19}$")
    trace_id: str = Field(pattern=r"^[1-9][0-9]{0,38}$")


class _JoinOn(Strict):
    span: _Span


class _Metric(Strict):
    event_kind: Literal["evaluation"]
    join_on: _JoinOn
    eval_scope: Literal["span", "trace"]
    ml_app: str = Field(min_length=1, max_length=193)
    timestamp_ms: int = Field(gt=0)
    label: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,199}$")
    metric_type: Literal["score", "categorical", "boolean"]
    score_value: float | None = None
    categorical_value: str | None = None
    boolean_value: bool | None = None
    assessment: Literal["pass", "fail"] | None = None
    reasoning: str | None = None
    tags: list[str] = Field(default_factory=list)
    metadata: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Any:
        if getattr(self, f"{self.metric_type}_value") is None:
            raise ValueError(f"{self.metric_type}_value is missing")
        if "source:otel" not in self.tags:
            raise ValueError("source:otel is missing")
        return self


class _Attributes(Strict):
    metrics: list[_Metric] = Field(min_length=1)


class _Data(Strict):
    type: Literal["evaluation_metric"]
    attributes: _Attributes


class _Body(Strict):
    data: _Data


class DatadogStandIn(StandIn):
    credentials: ClassVar = {"dd-api-key": "dd-secret"}
    options: ClassVar = {"api_key": "dd-secret", "tags": ["env:test"]}

    def routes(self) -> list[Route]:
        return [Route("/api/intake/llm-obs/v2/eval-metric", self._take, methods=["POST"])]

    async def _take(self, request: Request) -> Response:
        for metric in _Body.model_validate_json(await request.body()).data.attributes.metrics:
            span = metric.join_on.span
            key = f"{span.trace_id}/{span.span_id}/{metric.label}/{metric.timestamp_ms}"
            self.stored[key] = metric.model_dump(exclude_none=True)
        return JSONResponse({"data": {"type": "evaluation_metric"}}, status_code=202)
