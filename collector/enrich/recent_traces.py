"""The spans of traces that were seen lately, as far as they say what hangs below what. In memory, bounded."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum

from collector.enrich.candidates import SeenSpan

_MAX_STEPS = 256


class Place(Enum):
    """Where a span is in its trace, as far as the trace has arrived."""

    INNER = "inner"
    """Below another span of GenAI."""
    OUTERMOST = "outermost"
    """Nothing of GenAI is above it, up to the root."""
    OPEN = "open"
    """Something above it has not arrived."""


@dataclass(slots=True)
class KnownSpan:
    parent: str
    is_genai: bool
    shape: bytes | None
    counted: bool = False
    """It was counted as nobody's target."""


class RecentTraces:
    def __init__(self, *, max_spans: int = 50_000, max_of_trace: int = 5_000) -> None:
        self._max_spans = max_spans
        self._max_of_trace = max_of_trace
        self._traces: OrderedDict[str, dict[str, KnownSpan]] = OrderedDict()
        self._spans = 0

    def add(self, seen: SeenSpan) -> None:
        spans = self._traces.setdefault(seen.trace, {})
        self._traces.move_to_end(seen.trace)
        if seen.span in spans or len(spans) >= self._max_of_trace:
            return
        spans[seen.span] = KnownSpan(seen.parent, seen.is_genai, seen.shape)
        self._spans += 1
        while self._spans > self._max_spans and len(self._traces) > 1:
            _, gone = self._traces.popitem(last=False)
            self._spans -= len(gone)

    def get(self, trace: str, span: str) -> KnownSpan | None:
        return self._traces.get(trace, {}).get(span)

    def place(self, trace: str, span: str) -> Place:
        spans = self._traces.get(trace, {})
        here = spans.get(span)
        for _ in range(_MAX_STEPS):
            if here is None:
                return Place.OPEN
            if not here.parent:
                return Place.OUTERMOST
            here = spans.get(here.parent)
            if here is not None and here.is_genai:
                return Place.INNER
        return Place.INNER  # a circle, or deeper than any turn's target is
