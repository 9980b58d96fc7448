"""Scores in Grafana's Agent Observability (Sigil), on the generation that they judge.

Its key is `score_id`, the verdict's id: one that is sent again is answered with `duplicate`. A score needs the id of a
generation there; that is the response id of the target's last model call, or another id of the verdict, by option.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

from collector.errors import PermanentError, RetryableError
from evaluators.verdict import Verdict
from exporters.errors import PartialExportError, TargetUnknownError
from exporters.http_api import HttpApi
from exporters.scores.score import (
    BUILTIN_JUDGE,
    comment_of,
    has_span,
    has_trace,
    metadata_of,
    passed,
    score_name,
    score_of,
    target_time_text,
    why_no_score,
)
from exporters.text import clean_line, clean_text

GenerationId: TypeAlias = Literal["response_id", "span_id", "trace_id"]

_PATH: Final = "/api/v1/scores:export"
_TAKEN: Final = frozenset({"accepted", "duplicate"})
_UNKNOWN: Final = ("not found", "unknown", "does not exist", "no generation")


class GrafanaBackend:
    def __init__(
        self, api: HttpApi, *, target_wait_s: float, generation_id: GenerationId = "response_id", content: bool = True
    ) -> None:
        self._api = api
        self._target_wait_s = target_wait_s
        self._generation_id = generation_id
        self._content = content

    def why_not(self, verdict: Verdict) -> str | None:
        return why_no_score(verdict) or (None if self._generation(verdict) else "no_target")

    async def send(self, verdicts: Sequence[Verdict]) -> None:
        scores = [self._score(verdict) for verdict in verdicts]
        answer = (await self._api.call("POST", _PATH, json_body={"scores": scores})).json()
        failures = self._failures(answer, verdicts)
        if failures:
            raise PartialExportError(f"{len(failures)} of {len(verdicts)} scores were refused.", failures=failures)

    async def close(self) -> None:
        await self._api.close()

    def _failures(self, answer: Any, verdicts: Sequence[Verdict]) -> dict[str, RetryableError | PermanentError]:
        ids = {verdict.id for verdict in verdicts}
        failures: dict[str, RetryableError | PermanentError] = {}
        for result in answer.get("results") or () if isinstance(answer, dict) else ():
            score_id, status = result.get("score_id"), result.get("status")
            if score_id not in ids or status in _TAKEN or result.get("accepted") is True:
                continue
            error = str(result.get("error") or "").lower()
            if any(word in error for word in _UNKNOWN):
                failures[score_id] = TargetUnknownError(
                    "Grafana does not know the generation of this score yet.", patience_s=self._target_wait_s
                )
            else:
                failures[score_id] = PermanentError(f"Grafana refused the score with the status {status!r}.")
        return failures

    def _generation(self, verdict: Verdict) -> str | None:
        match self._generation_id:
            case "response_id":
                return clean_text(verdict.response_id, max_chars=256) if verdict.response_id else None
            case "span_id":
                return verdict.span_id if has_span(verdict) else None
            case "trace_id":
                return verdict.trace_id if has_trace(verdict) else None

    def _score(self, verdict: Verdict) -> dict[str, object]:
        is_builtin = verdict.judge.name == BUILTIN_JUDGE
        found: dict[str, object] = {
            "score_id": verdict.id,
            "evaluator_id": f"adhere.{score_name(verdict)}",
            "evaluator_version": clean_line(verdict.evaluator_version, max_chars=128) or "0",
            "score_key": score_name(verdict),
            "value": {"number": score_of(verdict)},
            "generation_id": self._generation(verdict),
            "trace_id": verdict.trace_id,
            "passed": passed(verdict),
            "metadata": {
                **metadata_of(verdict, content=self._content),
                "gen_ai.evaluation.evaluator.type": "deterministic" if is_builtin else "llm_judge",
            },
            "created_at": target_time_text(verdict),
            "source": {"kind": "external", "id": "adhere"},
        }
        if has_span(verdict):
            found["span_id"] = verdict.span_id
        if verdict.conversation_id:
            found["conversation_id"] = clean_text(verdict.conversation_id, max_chars=256)
        explanation = comment_of(verdict, content=self._content)
        if explanation:
            found["explanation"] = explanation
        return found
