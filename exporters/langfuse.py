"""Scores in Langfuse: a turn's on its observation, a conversation's on the session, else on the trace.

Langfuse overwrites a score that is sent again with the same id and the same timestamp: the verdict's id, and the end of
the target span. A score may come before its trace. Servers take a list of scores; older ones take one score a call, and
are recognised by their refusal of the list. https://api.reference.langfuse.com
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from collector.errors import PermanentError
from evaluators.verdict import Verdict
from exporters.http_api import Answer, HttpApi, segment
from exporters.scores.one_by_one import one_by_one
from exporters.scores.score import (
    comment_of,
    has_span,
    is_on_conversation,
    metadata_of,
    score_name,
    score_of,
    session_id,
    target_time_text,
    why_no_score,
)

_PATH: Final = "/api/public/scores"
_PARTLY: Final = 207


class LangfuseBackend:
    def __init__(self, api: HttpApi, *, content: bool = True, environment: str | None = None) -> None:
        self._api = api
        self._content = content
        self._environment = environment
        self._takes_lists = True

    def why_not(self, verdict: Verdict) -> str | None:
        return why_no_score(verdict)

    async def send(self, verdicts: Sequence[Verdict]) -> None:
        if self._takes_lists and not await self._send_list(verdicts):
            self._takes_lists = False
        if not self._takes_lists:
            await one_by_one(verdicts, self._send_one)
        for verdict in verdicts:
            if verdict.supersedes:
                # The score of the revision before, which this one replaces; it may be gone already.
                await self._api.call("DELETE", f"{_PATH}/{segment(verdict.supersedes)}", allow=(404,))

    async def find(self, verdict: Verdict) -> str | None:
        answer = await self._api.call("GET", "/api/public/v3/scores", params={"id": verdict.id}, allow=(404,))
        if answer.status == 404:
            answer = await self._api.call("GET", "/api/public/v2/scores", params={"scoreIds": verdict.id}, allow=(404,))
        if answer.status == 404:
            return None
        found = [item for item in answer.json().get("data") or () if item.get("id") == verdict.id]
        return f"score {found[0].get('name')} with the id {verdict.id}" if found else None

    async def close(self) -> None:
        await self._api.close()

    async def _send_list(self, verdicts: Sequence[Verdict]) -> bool:
        """False where the server takes no lists."""
        try:
            answer = await self._api.call("POST", _PATH, json_body=[self._score(verdict) for verdict in verdicts])
        except PermanentError:
            # A server that takes no lists refuses any; one that does refuses this one again when it is split.
            if len(verdicts) > 1 or not await self._takes_one(verdicts[0]):
                raise
            return False
        _check_partly(answer)
        return True

    async def _takes_one(self, verdict: Verdict) -> bool:
        try:
            await self._send_one(verdict)
        except PermanentError:
            return False
        return True

    async def _send_one(self, verdict: Verdict) -> None:
        await self._api.call("POST", _PATH, json_body=self._score(verdict))

    def _score(self, verdict: Verdict) -> dict[str, object]:
        found: dict[str, object] = {
            "id": verdict.id,
            "name": score_name(verdict),
            "value": score_of(verdict),
            "dataType": "NUMERIC",
            "timestamp": target_time_text(verdict),
            "metadata": metadata_of(verdict, content=self._content),
            **_target(verdict),
        }
        comment = comment_of(verdict, content=self._content)
        if comment:
            found["comment"] = comment
        if self._environment:
            found["environment"] = self._environment
        return found


def _target(verdict: Verdict) -> dict[str, str]:
    session = session_id(verdict)
    if session is not None and session.isascii():
        return {"sessionId": session}
    if not is_on_conversation(verdict) and has_span(verdict):
        return {"traceId": verdict.trace_id, "observationId": verdict.span_id}
    return {"traceId": verdict.trace_id}


def _check_partly(answer: Answer) -> None:
    """207 says how many were refused, and not which: refused as a whole, the outbox splits it until that is clear."""
    if answer.status != _PARTLY:
        return
    found = answer.json()
    if isinstance(found, dict) and found.get("rejected"):
        raise PermanentError(f"Langfuse refused {found['rejected']} of the scores that it was sent.")
