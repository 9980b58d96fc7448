"""What a request's spans are to a hold: who hangs below whom, and which may be a turn's target.

A target is an agent's or workflow's span, or a model call's: the outermost that holds the turn.
Tools, retrievals and everything that is no GenAI are never held, nor is what Adhere itself sent. Requests without a
marker of any dialect are not even taken apart, unless a span of a trace that is waited for is in them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from collector.errors import MalformedRequestError
from collector.live.candidates import CandidateFilter
from collector.live.reconstruction import Reconstruction
from collector.loop_guard import is_judge_call, is_own
from collector.operation import Operation, OperationKind
from collector.telemetry.envelope import ITEM_CLASSES, ITEM_NAMES, split
from collector.telemetry.records import Signal, Span
from collector.telemetry.repair import parse
from collector.telemetry.span_decoder import SpanDecoder

_TARGETS = frozenset({OperationKind.AGENT, OperationKind.WORKFLOW, OperationKind.MODEL_CALL})
_SHAPE_BYTES = 8
_MAX_NAME = 200
_MANY_TRACES = 32


@dataclass(frozen=True, slots=True)
class SeenSpan:
    index: int
    """Counted through the whole request, from 0."""
    trace: str
    span: str
    parent: str
    """"" for a root."""
    is_genai: bool
    shape: bytes | None = None
    """What all spans of this kind have in common; None where it can be nobody's target."""


class CandidateReader:
    """One thread at a time."""

    def __init__(self, reconstruction: Reconstruction) -> None:
        self._reconstruction = reconstruction
        self._filter = CandidateFilter(reconstruction.markers())
        self._decoder = SpanDecoder()

    def read(self, body: bytes, *, watched: Collection[str] = ()) -> list[SeenSpan]:
        """Every span of the request, or none where neither a marker nor a watched trace is in it. Never raises."""
        if not any(self._filter.flags([body])) and not _is_watched(body, watched):
            return []
        try:
            groups: Any = split(Signal.TRACES, body).groups
        except MalformedRequestError:
            return []
        found: list[SeenSpan] = []
        index = 0
        for group in groups:
            for scope in group.scopes:
                items = list(scope.items)
                for raw, is_candidate in zip(items, self._filter.flags(items), strict=True):
                    seen = self._genai(index, raw, group.resource, scope.scope) if is_candidate else None
                    seen = seen or _plain(index, raw)
                    if seen is not None:
                        found.append(seen)
                    index += 1
        return found

    def _genai(self, index: int, raw: bytes, resource: bytes, scope: bytes) -> SeenSpan | None:
        try:
            span = self._decoder.span(raw, self._decoder.resource(resource), self._decoder.scope(scope))
            operation = None if is_own(span) else self._reconstruction.read_span(span)
        except Exception:  # noqa: BLE001 - a supervision point: what cannot be read is relayed like any other span
            return None
        if operation is None or operation.kind is OperationKind.OTHER or not (span.trace_id and span.span_id):
            return None
        may_be_target = operation.kind in _TARGETS and not operation.is_internal and not is_judge_call(operation)
        return SeenSpan(
            index=index,
            trace=span.trace_id,
            span=span.span_id,
            parent=span.parent_span_id,
            is_genai=True,
            shape=_shape(span, operation) if may_be_target else None,
        )


def _is_watched(body: bytes, traces: Collection[str]) -> bool:
    """To look for very many costs more than to take the request apart."""
    return len(traces) > _MANY_TRACES or any(bytes.fromhex(trace) in body for trace in traces)


def _plain(index: int, raw: bytes) -> SeenSpan | None:
    try:
        span: Any = parse(ITEM_CLASSES[Signal.TRACES], raw, what=ITEM_NAMES[Signal.TRACES])
    except MalformedRequestError:
        return None
    parent = span.parent_span_id.hex() if any(span.parent_span_id) else ""
    return SeenSpan(index, span.trace_id.hex(), span.span_id.hex(), parent, is_genai=False)


def _shape(span: Span, operation: Operation) -> bytes:
    agent = operation.agent.name if operation.agent is not None else None
    parts = (
        operation.service or "",
        operation.scope,
        operation.kind.value,
        span.name[:_MAX_NAME],
        (agent or "")[:_MAX_NAME],
        "child" if span.parent_span_id else "root",
    )
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=_SHAPE_BYTES).digest()
