"""Verdicts as feedback in W&B Weave, on the call that Weave makes of the target span.

A call's id is the span's id. The feedback's id is a UUID made from the verdict's id: one that is there already is
replaced. All outcomes are sent: only `pass` and `fail` have a rating, every one has its outcome as a tag.
https://docs.wandb.ai/weave/reference/service-api
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evaluators.verdict import Outcome, Verdict
from exporters.http_api import HttpApi
from exporters.scores.one_by_one import one_by_one
from exporters.scores.score import (
    comment_of,
    has_span,
    is_on_conversation,
    label_of,
    metadata_of,
    score_name,
    score_of,
    verdict_uuid,
)
from exporters.text import clean_line, clean_text

_TYPE_PREFIX: Final = "adhere."


class WeaveBackend:
    def __init__(self, api: HttpApi, *, entity: str, project: str, content: bool = True) -> None:
        self._api = api
        self._project_id = f"{entity}/{project}"
        self._content = content

    def why_not(self, verdict: Verdict) -> str | None:
        return None if has_span(verdict) else "no_target"

    async def send(self, verdicts: Sequence[Verdict]) -> None:
        await one_by_one(verdicts, self._send)

    async def find(self, verdict: Verdict) -> str | None:
        is_there = await self._is_there(verdict)
        return f"feedback with the id {verdict_uuid(verdict.id)}" if is_there else None

    async def close(self) -> None:
        await self._api.close()

    async def _send(self, verdict: Verdict) -> None:
        feedback = self._feedback(verdict)
        if await self._is_there(verdict):
            await self._api.call(
                "POST", "/feedback/replace", json_body={**feedback, "feedback_id": str(verdict_uuid(verdict.id))}
            )
        else:
            await self._api.call("POST", "/feedback/create", json_body=feedback)

    async def _is_there(self, verdict: Verdict) -> bool:
        is_it = {"$eq": [{"$getField": "id"}, {"$literal": str(verdict_uuid(verdict.id))}]}
        answer = await self._api.call(
            "POST",
            "/feedback/query",
            json_body={"project_id": self._project_id, "query": {"$expr": is_it}, "fields": ["id"], "limit": 1},
        )
        return bool(answer.json().get("result"))

    def _feedback(self, verdict: Verdict) -> dict[str, object]:
        name = score_name(verdict)
        comment = comment_of(verdict, content=self._content)
        is_scored = verdict.outcome in (Outcome.PASS, Outcome.FAIL) and verdict.score is not None
        payload: dict[str, object] = {
            "name": name,
            "outcome": verdict.outcome.value,
            **metadata_of(verdict, content=self._content),
        }
        if is_scored:
            payload["score"] = score_of(verdict)
        if comment:
            payload["explanation"] = comment
        if verdict.error_type:
            payload["error_type"] = clean_line(verdict.error_type, max_chars=256)
        found: dict[str, object] = {
            "id": str(verdict_uuid(verdict.id)),
            "project_id": self._project_id,
            "weave_ref": f"weave:///{self._project_id}/call/{verdict.span_id}",
            "feedback_type": f"{_TYPE_PREFIX}{name}",
            "payload": payload,
            "scorer_tags": [label_of(verdict)],
            "span_trace_id": verdict.trace_id,
        }
        if is_scored:
            found["scorer_ratings"] = {name: score_of(verdict)}
            if comment:
                found["scorer_rating_reasons"] = {name: comment}
        if is_on_conversation(verdict) and verdict.conversation_id:
            found["span_conversation_id"] = clean_text(verdict.conversation_id, max_chars=1024)
        if verdict.agent_name:
            found["span_agent_name"] = clean_line(verdict.agent_name, max_chars=256)
        if verdict.agent_version:
            found["span_agent_version"] = clean_line(verdict.agent_version, max_chars=256)
        return found
