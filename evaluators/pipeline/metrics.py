"""Metrics of the judging pipeline.

Conservation, for each evaluator: submitted + recovered + called back = decisions (without superseded history) +
unchanged + waiting.
"""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from evaluators.pipeline.brake import Brake
from evaluators.pipeline.unit_queue import UnitQueue

_MAX_CODES = 64
_SECONDS = (0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class PipelineMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._codes: set[str] = set()
        self.submitted = Counter(
            "adhere_judging_submitted_total",
            "Units offered to an evaluator.",
            ["evaluator"],
            registry=registry,
        )
        self.recovered = Counter(
            "adhere_judging_recovered_total",
            "Units found waiting on disk at start.",
            ["evaluator"],
            registry=registry,
        )
        self.called_back = Counter(
            "adhere_judging_called_back_total",
            "Dead letters that `adhere judging retry` put back in line while Adhere ran.",
            ["evaluator"],
            registry=registry,
        )
        self.unchanged = Counter(
            "adhere_judging_unchanged_total",
            "Units whose content was already decided on, or already waits, so that nothing was to be done.",
            ["evaluator"],
            registry=registry,
        )
        self.decisions = Counter(
            "adhere_judging_decisions_total",
            "Final decisions, by kind and reason; superseded counts waiting units that a later revision replaced.",
            ["evaluator", "kind", "reason"],
            registry=registry,
        )
        self.deferrals = Counter(
            "adhere_judging_deferrals_total",
            "Judgings put off because the judge is down or the budget is spent; no final decision.",
            ["evaluator", "kind"],
            registry=registry,
        )
        self.failed_tries = Counter(
            "adhere_judging_failed_tries_total",
            "Evaluations that raised or ran over their deadline.",
            ["evaluator", "reason"],
            registry=registry,
        )
        self.injections = Counter(
            "adhere_judging_injections_suspected_total",
            "Verdicts whose judge saw text that tries to steer it, or orders in a tool's result.",
            ["evaluator"],
            registry=registry,
        )
        self.verdicts = Counter(
            "adhere_judging_verdicts_total", "Verdicts by outcome.", ["evaluator", "outcome"], registry=registry
        )
        self.seconds = Histogram(
            "adhere_judging_seconds",
            "Duration of one evaluation.",
            ["evaluator"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.in_flight = Gauge("adhere_judging_in_flight", "Evaluations under way.", ["evaluator"], registry=registry)
        self.queue_items = Gauge("adhere_judging_queue_items", "Submitted units in memory.", registry=registry)
        self.queue_bytes = Gauge("adhere_judging_queue_bytes", "Their content in bytes.", registry=registry)
        self.waiting = Gauge("adhere_judging_waiting", "Judgings that wait on disk.", registry=registry)
        self.waiting_bytes = Gauge("adhere_judging_waiting_bytes", "Content that waits on disk.", registry=registry)
        self.dead_letters = Gauge("adhere_judging_dead_letters", "Judgings given up and kept.", registry=registry)
        self.oldest_pending_seconds = Gauge(
            "adhere_judging_oldest_pending_seconds",
            "Age of the oldest unit that waits to be judged.",
            registry=registry,
        )
        self.judge_paused = Gauge(
            "adhere_judging_judge_paused",
            "1 while a judge that keeps refusing is left alone.",
            ["judge"],
            registry=registry,
        )
        self.handed_over = Counter(
            "adhere_judging_verdicts_handed_over_total", "Verdicts taken over by the exporters.", registry=registry
        )
        self.hand_over_failures = Counter(
            "adhere_judging_hand_over_failures_total",
            "Verdicts that the exporters did not take, to be given again.",
            registry=registry,
        )
        self.store_failures = Counter(
            "adhere_judging_store_failures_total", "Writes that the verdict store refused; retried.", registry=registry
        )
        self.trimmed = Counter(
            "adhere_judging_store_trimmed_total", "Slices of old verdicts and decisions deleted.", registry=registry
        )

    def watch(self, *, queue: UnitQueue, oldest_pending_s: Callable[[], float]) -> None:
        self.queue_items.set_function(lambda: queue.items)
        self.queue_bytes.set_function(lambda: queue.bytes)
        self.oldest_pending_seconds.set_function(oldest_pending_s)

    def watch_judge(self, judge: str, brake: Brake) -> None:
        self.judge_paused.labels(judge).set_function(lambda: float(brake.is_on))

    def code(self, value: str | None) -> str:
        """A reason as label: as it is, as long as there are few of them."""
        value = value or "none"
        if value not in self._codes:
            if len(self._codes) >= _MAX_CODES or len(value) > 60:
                return "other"
            self._codes.add(value)
        return value
