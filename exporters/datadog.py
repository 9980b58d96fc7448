"""Scores as external evaluations in Datadog's LLM Observability, joined to the target span.

Ids go as decimal numbers and with the tag `source:otel`, as Datadog wants them for spans that came over OTLP; it waits
for a span that is not there yet. The same label on the same span with the same time is the same evaluation: the time is
the end of the target span. Nothing can be read back. https://docs.datadoghq.com/llm_observability/evaluations/external_evaluations
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from evaluators.verdict import Verdict
from exporters.http_api import HttpApi
from exporters.scores.score import (
    comment_of,
    has_span,
    is_on_conversation,
    metadata_of,
    passed,
    score_name,
    score_of,
    why_no_score,
)
from exporters.text import clean_line

_PATH: Final = "/api/intake/llm-obs/v2/eval-metric"
_NOT_IN_LABELS: Final = re.compile(r"[^A-Za-z0-9_]+")
_MAX_LABEL_CHARS: Final = 200


class DatadogBackend:
    def __init__(
        self, api: HttpApi, *, ml_app: str | None = None, tags: Sequence[str] = (), content: bool = True
    ) -> None:
        """`ml_app` names the application in Datadog; else it is the verdict's service."""
        self._api = api
        self._ml_app = ml_app
        self._tags = tuple(tags)
        self._content = content

    def why_not(self, verdict: Verdict) -> str | None:
        return why_no_score(verdict) or (None if has_span(verdict) else "no_target")

    async def send(self, verdicts: Sequence[Verdict]) -> None:
        metrics = [self._metric(verdict) for verdict in verdicts]
        await self._api.call(
            "POST",
            _PATH,
            json_body={"data": {"type": "evaluation_metric", "attributes": {"metrics": metrics}}},
        )

    async def close(self) -> None:
        await self._api.close()

    def _metric(self, verdict: Verdict) -> dict[str, object]:
        ml_app = self._ml_app or clean_line(verdict.service or "unknown_service", max_chars=193)
        found: dict[str, object] = {
            "event_kind": "evaluation",
            "join_on": {"span": {"span_id": str(int(verdict.span_id, 16)), "trace_id": str(int(verdict.trace_id, 16))}},
            "eval_scope": "trace" if is_on_conversation(verdict) else "span",
            "ml_app": ml_app,
            "timestamp_ms": verdict.target_end_ns // 1_000_000,
            "label": label(score_name(verdict)),
            "metric_type": "score",
            "score_value": score_of(verdict),
            "assessment": "pass" if passed(verdict) else "fail",
            "tags": ["source:otel", f"ml_app:{ml_app}", *self._tags],
            "metadata": metadata_of(verdict, content=self._content),
        }
        reasoning = comment_of(verdict, content=self._content)
        if reasoning:
            found["reasoning"] = reasoning
        return found


def label(name: str) -> str:
    """By Datadog's rules: begins with a letter; ASCII letters, digits and underscores only."""
    found = _NOT_IN_LABELS.sub("_", name)
    return (found if found[:1].isalpha() else f"adhere_{found}")[:_MAX_LABEL_CHARS]
