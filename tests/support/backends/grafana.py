"""Grafana's Agent Observability (Sigil): scores by id, with an answer for each; unknown fields are refused."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import AwareDatetime, Field, model_validator
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.backends.stand_in import StandIn, Strict

_Name = Field(min_length=1, max_length=256)


class _Value(Strict):
    number: float | None = None
    bool: Any = None
    string: str | None = None

    @model_validator(mode="after")
    def _has_one(self) -> Any:
        if sum(item is not None for item in (self.number, self.bool, self.string)) != 1:
            raise ValueError("exactly one value")
        return self


class _Source(Strict):
    kind: str
    id: str


class _Score(Strict):
    score_id: str = _Name
    evaluator_id: str = _Name
    evaluator_version: str = _Name
    score_key: str = _Name
    value: _Value
    generation_id: str = _Name
    conversation_id: str | None = None
    trace_id: str | None = Field(default=None, pattern=r"^[0-9a-f]{32}$")
    span_id: str | None = Field(default=None, pattern=r"^[0-9a-f]{16}$")
    passed: bool | None = None
    explanation: str | None = None
    metadata: dict[str, Any] | None = None
    created_at: AwareDatetime | None = None
    source: _Source | None = None


class _Body(Strict):
    scores: list[_Score] = Field(min_length=1)


class GrafanaStandIn(StandIn):
    # base64 of "1234:glc-secret"
    credentials: ClassVar = {"authorization": "Basic MTIzNDpnbGMtc2VjcmV0", "x-scope-orgid": "1234"}
    options: ClassVar = {"token": "glc-secret", "instance_id": "1234"}

    def __init__(self) -> None:
        super().__init__()
        self.generations: set[str] = set()

    def routes(self) -> list[Route]:
        return [Route("/api/v1/scores:export", self._take, methods=["POST"])]

    async def _take(self, request: Request) -> Response:
        results = []
        for score in _Body.model_validate_json(await request.body()).scores:
            status = "duplicate" if score.score_id in self.stored else "accepted"
            error = ""
            if score.generation_id not in self.generations:
                status, error = "rejected", "generation not found"
            else:
                self.stored.setdefault(score.score_id, score.model_dump(exclude_none=True, mode="json"))
            results.append(
                {"score_id": score.score_id, "accepted": status == "accepted", "status": status, "error": error}
            )
        return JSONResponse({"results": results, "accepted": len(results)}, status_code=202)
