"""Scores as feedback in LangSmith, on the run that LangSmith makes of the target span.

A run's id is the span's id with zeros before it. Feedback ids are UUIDs made from the verdict's id; where LangSmith
says that one is there already, it is changed instead. An evaluation that failed is feedback marked as an error, without
a score. Conversations have no feedback of their own there: theirs is on the last turn's run.
https://docs.langchain.com/langsmith/feedback-data-format
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Final

from evaluators.verdict import Outcome, Verdict
from exporters.errors import TargetUnknownError
from exporters.http_api import HttpApi
from exporters.scores.one_by_one import one_by_one
from exporters.scores.score import (
    BUILTIN_JUDGE,
    comment_of,
    has_span,
    label_of,
    metadata_of,
    score_name,
    score_of,
    target_time_text,
    verdict_uuid,
    why_no_score,
)

_KNOWN_ALREADY: Final = 409
_CHANGEABLE: Final = ("score", "value", "comment")


class LangsmithBackend:
    def __init__(self, api: HttpApi, *, content: bool = True, project_id: str | None = None) -> None:
        self._api = api
        self._content = content
        self._project_id = project_id

    def why_not(self, verdict: Verdict) -> str | None:
        if verdict.outcome is not Outcome.ERROR:
            found = why_no_score(verdict)
            if found is not None:
                return found
        return None if has_span(verdict) else "no_target"

    async def send(self, verdicts: Sequence[Verdict]) -> None:
        await one_by_one(verdicts, self._send)

    async def find(self, verdict: Verdict) -> str | None:
        feedback_id = verdict_uuid(verdict.id)
        try:
            answer = await self._api.call("GET", f"/feedback/{feedback_id}")
        except TargetUnknownError:
            return None
        return f"feedback {answer.json().get('key')} with the id {feedback_id}"

    async def close(self) -> None:
        await self._api.close()

    async def _send(self, verdict: Verdict) -> None:
        feedback = self._feedback(verdict)
        answer = await self._api.call("POST", "/feedback", json_body=feedback, allow=(_KNOWN_ALREADY,))
        if answer.status == _KNOWN_ALREADY:
            changes = {key: feedback[key] for key in _CHANGEABLE if key in feedback}
            await self._api.call("PATCH", f"/feedback/{feedback['id']}", json_body=changes)
        if verdict.supersedes:
            # The feedback of the revision before, which this one replaces; it may be gone already.
            await self._api.call("DELETE", f"/feedback/{verdict_uuid(verdict.supersedes)}", allow=(404,))

    def _feedback(self, verdict: Verdict) -> dict[str, object]:
        at = target_time_text(verdict)
        found: dict[str, object] = {
            "id": str(verdict_uuid(verdict.id)),
            "run_id": str(run_id(verdict.span_id)),
            "key": score_name(verdict),
            "created_at": at,
            "modified_at": at,
            "feedback_source": {
                "type": "api" if verdict.judge.name == BUILTIN_JUDGE else "model",
                "metadata": metadata_of(verdict, content=self._content),
            },
        }
        if verdict.outcome is Outcome.ERROR:
            found |= {"error": True, "value": verdict.error_type or "error"}
        else:
            found |= {"score": score_of(verdict), "value": label_of(verdict)}
        comment = comment_of(verdict, content=self._content)
        if comment:
            found["comment"] = comment
        if self._project_id:
            found["session_id"] = self._project_id
        return found


def run_id(span_id: str) -> uuid.UUID:
    return uuid.UUID(int=int(span_id, 16))
