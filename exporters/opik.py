"""Scores as feedback scores in Opik: a turn's on its span, a conversation's on the thread, else on the trace.

Opik gives the traces that it gets over OTLP ids of its own: UUIDs of version 7, whose time is that of the first span
that came in, and whose other bits are a hash of the trace's id. The trace is looked up by those bits; the ids of its
spans follow from it. The key is the name on the target, so that a resend, and a later revision, overwrite.
https://www.comet.com/docs/opik/reference/rest-api/overview
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import orjson

from collector.errors import PermanentError, RetryableError
from evaluators.verdict import Verdict
from exporters.errors import PartialExportError, TargetUnknownError
from exporters.http_api import HttpApi
from exporters.scores.score import (
    comment_of,
    has_span,
    is_on_conversation,
    label_of,
    score_name,
    score_of,
    session_id,
    target_time,
    why_no_score,
)

_SOURCE: Final = "online_scoring"
_TRACES: Final = "/v1/private/traces"
_SPANS: Final = "/v1/private/spans"
_THREADS: Final = "/v1/private/traces/threads"
_LOOK_BACK: Final = timedelta(days=1)
"""How long before the end of its target span a trace may have begun."""
_LOOK_AHEAD: Final = timedelta(minutes=5)


class OpikBackend:
    def __init__(self, api: HttpApi, *, project: str, target_wait_s: float, content: bool = True) -> None:
        self._api = api
        self._project = project
        self._target_wait_s = target_wait_s
        self._content = content

    def why_not(self, verdict: Verdict) -> str | None:
        return why_no_score(verdict)

    async def send(self, verdicts: Sequence[Verdict]) -> None:
        targets = await asyncio.gather(*(self._target(verdict) for verdict in verdicts))
        failures: dict[str, RetryableError | PermanentError] = {}
        scores: dict[str, list[Mapping[str, object]]] = {_TRACES: [], _SPANS: [], _THREADS: []}
        for verdict, target in zip(verdicts, targets, strict=True):
            if target is None:
                failures[verdict.id] = TargetUnknownError(
                    f"Opik has no trace in the project {self._project} for this score yet.",
                    patience_s=self._target_wait_s,
                )
            else:
                path, key = target
                scores[path].append(self._score(verdict, key))
        for path, group in scores.items():
            if group:
                await self._api.call("PUT", f"{path}/feedback-scores", json_body={"scores": group})
        if failures:
            raise PartialExportError(f"{len(failures)} targets are not known to Opik.", failures=failures)

    async def find(self, verdict: Verdict) -> str | None:
        target = await self._target(verdict)
        if target is None:
            return None
        path, key = target
        if path == _THREADS:
            found = await self._thread(key["thread_id"])
        else:
            found = (await self._api.call("GET", f"{path}/{key['id']}")).json()
        scores = (found or {}).get("feedback_scores") or ()
        if any(item.get("name") == score_name(verdict) for item in scores):
            return f"feedback score {score_name(verdict)} on {path.rpartition('/')[2]} {next(iter(key.values()))}"
        return None

    async def close(self) -> None:
        await self._api.close()

    async def _target(self, verdict: Verdict) -> tuple[str, dict[str, str]] | None:
        session = session_id(verdict)
        if session is not None and await self._thread(session) is not None:
            return _THREADS, {"thread_id": session}
        trace_id = await self._trace_id(verdict)
        if trace_id is None:
            return None
        if is_on_conversation(verdict) or not has_span(verdict):
            return _TRACES, {"id": str(trace_id)}
        span_id = opik_id(bytes.fromhex(verdict.span_id), timestamp_ms=trace_id.int >> 80)
        return _SPANS, {"id": str(span_id)}

    async def _trace_id(self, verdict: Verdict) -> uuid.UUID | None:
        ending = str(opik_id(bytes.fromhex(verdict.trace_id), timestamp_ms=0))[13:]
        end = target_time(verdict)
        answer = await self._api.call(
            "GET",
            _TRACES,
            params={
                "project_name": self._project,
                "filters": orjson.dumps(
                    [{"field": "id", "operator": "ends_with", "value": ending, "type": "string"}]
                ).decode(),
                "from_time": _text(end - _LOOK_BACK),
                "to_time": _text(end + _LOOK_AHEAD),
                "size": 10,
                "truncate": "true",
            },
            allow=(404,),
        )
        if answer.status == 404:
            return None  # The project comes into being with its first trace.
        for item in answer.json().get("content") or ():
            found = str(item.get("id"))
            if found.endswith(ending):
                return uuid.UUID(found)
        return None

    async def _thread(self, thread_id: str) -> Mapping[str, Any] | None:
        answer = await self._api.call(
            "POST",
            f"{_THREADS}/retrieve",
            json_body={"project_name": self._project, "thread_id": thread_id},
            allow=(404,),
        )
        found = answer.json() if answer.status != 404 else None
        return found if isinstance(found, dict) else None

    def _score(self, verdict: Verdict, key: Mapping[str, str]) -> dict[str, object]:
        found: dict[str, object] = {
            **key,
            "project_name": self._project,
            "name": score_name(verdict),
            "category_name": label_of(verdict),
            "value": score_of(verdict),
            "source": _SOURCE,
        }
        reason = comment_of(verdict, content=self._content)
        if reason:
            found["reason"] = reason
        return found


def opik_id(otel_id: bytes, *, timestamp_ms: int) -> uuid.UUID:
    """Opik's id for a trace or span that came over OTLP: its time, then a hash of the id."""
    bits = bytearray((timestamp_ms & (2**48 - 1)).to_bytes(6) + hashlib.sha256(otel_id).digest()[:10])
    bits[6] = (bits[6] & 0x0F) | 0x70
    bits[8] = (bits[8] & 0x3F) | 0x80
    return uuid.UUID(bytes=bytes(bits))


def _text(at: Any) -> str:
    return str(at.isoformat(timespec="milliseconds")).replace("+00:00", "Z")
