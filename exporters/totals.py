"""What the metrics count: totals over all verdicts, by service, agent, version, evaluator and judge.

One set of totals feeds each form of metrics (Prometheus, OTLP), so that they agree. The number of series is bounded: at
the bound a series that nothing was added to for a day makes room, else the new one is counted under `other`; so is a
label over the bound of one series. A verdict that replaces an earlier one is counted as well: totals are of verdicts
given, not of units.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from collector.clock import Clock
from evaluators.verdict import Outcome, Verdict
from exporters.text import clean_line

OTHER = "other"
UNKNOWN = "unknown"
SCORE_BOUNDS: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
DURATION_BOUNDS_S: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)
_MAX_LABEL_CHARS = 100
_MAX_EVALUATORS = 100
_MAX_LABELS = 20
"""Of one series. An evaluator has a closed set of labels; a plug-in may have none."""
_IDLE_S = 86_400.0


@dataclass(frozen=True, slots=True, order=True)
class SeriesKey:
    service: str
    agent: str
    version: str
    evaluator: str
    model: str
    """Who judged: a model, or `builtin`."""


@dataclass(frozen=True, slots=True, order=True)
class Result:
    outcome: Outcome
    label: str
    """The score's; empty where there is no score."""


@dataclass(frozen=True, slots=True)
class Exemplar:
    """One verdict behind a number."""

    trace_id: str
    span_id: str
    value: float
    time_ns: int


@dataclass(slots=True)
class Histogram:
    bounds: Sequence[float]
    """Upper bounds, inclusive; one more bucket is above the last."""
    counts: list[int] = field(default_factory=list)
    exemplars: list[Exemplar | None] = field(default_factory=list)
    sum: float = 0.0

    def __post_init__(self) -> None:
        self.counts = self.counts or [0] * (len(self.bounds) + 1)
        self.exemplars = self.exemplars or [None] * (len(self.bounds) + 1)

    @property
    def count(self) -> int:
        return sum(self.counts)

    def add(self, value: float, exemplar: Exemplar | None) -> None:
        bucket = next((index for index, bound in enumerate(self.bounds) if value <= bound), len(self.bounds))
        self.counts[bucket] += 1
        self.exemplars[bucket] = exemplar or self.exemplars[bucket]
        self.sum += value

    def copy(self) -> Histogram:
        return Histogram(self.bounds, list(self.counts), list(self.exemplars), self.sum)


@dataclass(slots=True)
class Series:
    start_ns: int
    """Since when it counts."""
    touched_s: float
    score: Histogram = field(default_factory=lambda: Histogram(SCORE_BOUNDS))
    duration: Histogram = field(default_factory=lambda: Histogram(DURATION_BOUNDS_S))
    results: dict[Result, int] = field(default_factory=dict)
    result_exemplars: dict[Result, Exemplar] = field(default_factory=dict)
    input_tokens: int = 0
    """Cached ones included."""
    cached_input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0

    def copy(self) -> Series:
        return Series(
            self.start_ns,
            self.touched_s,
            self.score.copy(),
            self.duration.copy(),
            dict(self.results),
            dict(self.result_exemplars),
            self.input_tokens,
            self.cached_input_tokens,
            self.output_tokens,
            self.cost_usd,
        )


class VerdictTotals:
    """Added to on the event loop, read from any thread."""

    def __init__(self, *, clock: Clock, max_series: int = 500) -> None:
        self._clock = clock
        self._max_series = max_series
        self._series: dict[SeriesKey, Series] = {}
        self._evaluators: set[str] = set()
        self._lock = threading.Lock()

    def add(self, verdicts: Iterable[Verdict]) -> None:
        with self._lock:
            for verdict in verdicts:
                self._add(verdict)

    def snapshot(self) -> dict[SeriesKey, Series]:
        """A copy, in a stable order."""
        with self._lock:
            return {key: self._series[key].copy() for key in sorted(self._series)}

    def _add(self, verdict: Verdict) -> None:
        series = self._of(verdict)
        series.touched_s = self._clock.monotonic_s()
        result = _result(verdict, series)
        series.results[result] = series.results.get(result, 0) + 1
        if (exemplar := _exemplar(verdict, 1.0)) is not None:
            series.result_exemplars[result] = exemplar
        if verdict.score is not None and verdict.outcome in (Outcome.PASS, Outcome.FAIL):
            series.score.add(verdict.score, _exemplar(verdict, verdict.score))
        judge = verdict.judge
        if judge.calls:
            series.duration.add(judge.duration_s, _exemplar(verdict, judge.duration_s))
        series.input_tokens += judge.input_tokens
        series.cached_input_tokens += judge.cached_input_tokens
        series.output_tokens += judge.output_tokens
        series.cost_usd += judge.cost_usd or 0.0

    def _of(self, verdict: Verdict) -> Series:
        key = SeriesKey(
            service=_label(verdict.service),
            agent=_label(verdict.agent_name),
            version=_label(verdict.agent_version),
            evaluator=self._evaluator(verdict.evaluator),
            model=_label(verdict.judge.name),
        )
        known = self._series.get(key)
        if known is None and len(self._series) >= self._max_series and not self._make_room():
            key = SeriesKey(OTHER, OTHER, OTHER, key.evaluator, OTHER)
            known = self._series.get(key)
        if known is None:
            known = Series(start_ns=self._clock.now_ns(), touched_s=self._clock.monotonic_s())
            self._series[key] = known
        return known

    def _evaluator(self, name: str) -> str:
        """The `other` series are one an evaluator, so evaluators have a bound of their own."""
        label = _label(name)
        if label not in self._evaluators:
            if len(self._evaluators) >= _MAX_EVALUATORS:
                return OTHER
            self._evaluators.add(label)
        return label

    def _make_room(self) -> bool:
        stalest = min(self._series, key=lambda key: self._series[key].touched_s)
        if self._clock.monotonic_s() - self._series[stalest].touched_s < _IDLE_S:
            return False
        del self._series[stalest]
        return True


def _result(verdict: Verdict, series: Series) -> Result:
    if verdict.outcome not in (Outcome.PASS, Outcome.FAIL):
        return Result(verdict.outcome, "")
    found = Result(verdict.outcome, _label(verdict.label or verdict.outcome.value))
    return found if found in series.results or len(series.results) < _MAX_LABELS else Result(verdict.outcome, OTHER)


def _label(text: str | None) -> str:
    return clean_line(text or "", max_chars=_MAX_LABEL_CHARS) or UNKNOWN


def _exemplar(verdict: Verdict, value: float) -> Exemplar | None:
    if not verdict.trace_id:
        return None
    return Exemplar(verdict.trace_id, verdict.span_id, value, verdict.judged_ns or verdict.target_end_ns)
