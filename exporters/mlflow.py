"""Scores as assessments in MLflow: a turn's on its span, a conversation's on the last turn's trace, under the session.

MLflow does not overwrite by itself. Each assessment gets an id made from the verdict's id and carries that in its
metadata; before one is written, the trace's assessments are read, and one that is there already is changed instead. A
verdict on an earlier revision of the same trace is marked as overridden. Evaluations that failed, and units that could
not be assessed, are feedback with an error and without a value. https://mlflow.org/docs/latest/api_reference/rest-api.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from evaluators.verdict import Outcome, Verdict
from exporters.errors import TargetUnknownError
from exporters.http_api import HttpApi
from exporters.scores.one_by_one import one_by_one
from exporters.scores.score import (
    BUILTIN_JUDGE,
    comment_of,
    has_span,
    has_trace,
    is_on_conversation,
    metadata_of,
    score_name,
    score_of,
    session_id,
    target_time_text,
    verdict_uuid,
    why_no_score,
)
from exporters.text import clean_line

_VERDICT_ID: Final = "adhere.verdict_id"
_MASK: Final = "feedback,rationale,metadata"
_MAX_METADATA_CHARS: Final = 4000


class MlflowBackend:
    def __init__(self, api: HttpApi, *, content: bool = True) -> None:
        self._api = api
        self._content = content

    def why_not(self, verdict: Verdict) -> str | None:
        if verdict.outcome in (Outcome.ERROR, Outcome.NOT_ASSESSABLE):
            return None if has_trace(verdict) else "no_target"
        return why_no_score(verdict)

    async def send(self, verdicts: Sequence[Verdict]) -> None:
        await one_by_one(verdicts, self._send)

    async def find(self, verdict: Verdict) -> str | None:
        try:
            found = _written(await self._assessments(verdict), verdict.id)
        except TargetUnknownError:
            return None
        return None if found is None else f"assessment {found.get('assessment_id')} on the trace tr-{verdict.trace_id}"

    async def close(self) -> None:
        await self._api.close()

    async def _send(self, verdict: Verdict) -> None:
        known = await self._assessments(verdict)
        assessment = self._assessment(verdict)
        written = _written(known, verdict.id)
        if written is not None:
            await self._api.call(
                "PATCH",
                f"{_path(verdict)}/assessments/{written['assessment_id']}",
                json_body={"assessment": assessment, "update_mask": _MASK},
            )
            return
        earlier = _written(known, verdict.supersedes) if verdict.supersedes else None
        if earlier is not None:
            assessment = {**assessment, "overrides": earlier["assessment_id"]}
        await self._api.call("POST", f"{_path(verdict)}/assessments", json_body={"assessment": assessment})

    async def _assessments(self, verdict: Verdict) -> list[dict[str, Any]]:
        """Raises TargetUnknownError while the trace is not there."""
        answer = (await self._api.call("GET", _path(verdict))).json()
        info = (answer.get("trace") or {}).get("trace_info") or {}
        return [item for item in info.get("assessments") or () if isinstance(item, dict)]

    def _assessment(self, verdict: Verdict) -> dict[str, object]:
        comment = comment_of(verdict, content=self._content)
        found: dict[str, object] = {
            "assessment_id": assessment_id(verdict.id),
            "assessment_name": score_name(verdict),
            "trace_id": f"tr-{verdict.trace_id}",
            "source": {
                "source_type": "CODE" if verdict.judge.name == BUILTIN_JUDGE else "LLM_JUDGE",
                "source_id": clean_line(verdict.judge.name, max_chars=250) or BUILTIN_JUDGE,
            },
            "feedback": _feedback(verdict),
            "metadata": self._metadata(verdict),
            "create_time": target_time_text(verdict),
            "last_update_time": target_time_text(verdict),
            "valid": True,
        }
        if not is_on_conversation(verdict) and has_span(verdict):
            found["span_id"] = verdict.span_id
        if comment:
            found["rationale"] = comment
        return found

    def _metadata(self, verdict: Verdict) -> Mapping[str, str]:
        """Text only, as MLflow wants it, with the names under which MLflow shows what judging took."""
        found = {key: _text(value) for key, value in metadata_of(verdict, content=self._content).items()}
        judge = verdict.judge
        if judge.calls:
            found["mlflow.assessment.judgeInputTokens"] = str(judge.input_tokens)
            found["mlflow.assessment.judgeOutputTokens"] = str(judge.output_tokens)
        if judge.cost_usd is not None:
            found["mlflow.assessment.judgeCost"] = str(judge.cost_usd)
        session = session_id(verdict)
        if session is not None:
            found["mlflow.trace.session"] = session
        return found


def assessment_id(verdict_id: str) -> str:
    return f"a-{verdict_uuid(verdict_id).hex}"


def _path(verdict: Verdict) -> str:
    return f"/api/3.0/mlflow/traces/tr-{verdict.trace_id}"


def _feedback(verdict: Verdict) -> dict[str, object]:
    if verdict.outcome in (Outcome.PASS, Outcome.FAIL):
        return {"value": score_of(verdict)}
    kind = clean_line(verdict.error_type or "unknown", max_chars=200)
    what = "The evaluation failed" if verdict.outcome is Outcome.ERROR else "The unit could not be assessed"
    return {"error": {"error_code": kind, "error_message": f"{what} ({kind})."}}


def _written(known: Sequence[Mapping[str, Any]], verdict_id: str) -> Mapping[str, Any] | None:
    wanted = assessment_id(verdict_id)
    for item in known:
        if item.get("assessment_id") == wanted or (item.get("metadata") or {}).get(_VERDICT_ID) == verdict_id:
            return item
    return None


def _text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _MAX_METADATA_CHARS else text[:_MAX_METADATA_CHARS]
