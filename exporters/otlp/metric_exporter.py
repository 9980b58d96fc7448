"""Pushes the totals as OTLP metrics, every so often.

Verdicts count as delivered once they are in the totals. A push that fails is made good by the next one: cumulative
values hold everything, and a delta holds all since the last push that got through. Totals are in memory; those of a
process that dies between two pushes are lost to metrics (the events and spans of the same verdicts are not).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import structlog
from prometheus_client import Counter

from collector.clock import Clock
from collector.errors import PermanentError, RetryableError
from collector.relay.sender import OtlpSender
from collector.telemetry.records import Signal
from collector.waiting import within
from evaluators.verdict import Verdict
from exporters.crash import log_crash
from exporters.otlp.metrics import difference, metrics_request
from exporters.totals import Series, SeriesKey, VerdictTotals

log = structlog.get_logger(__name__)


class OtlpMetricExporter:
    def __init__(
        self,
        name: str,
        *,
        sender: OtlpSender,
        clock: Clock,
        version: str,
        instance_id: str,
        failures: Counter | None = None,
        delta: bool = False,
        interval_s: float = 60.0,
        timeout_s: float = 30.0,
        max_series: int = 500,
    ) -> None:
        """`failures` has the label `exporter`. The exporter closes the sender."""
        self.name = name
        self._totals = VerdictTotals(clock=clock, max_series=max_series)
        self._sender = sender
        self._clock = clock
        self._version = version
        self._instance_id = instance_id
        self._failures = failures
        self._delta = delta
        self._interval_s = interval_s
        self._timeout_s = timeout_s
        self._pushed: Mapping[SeriesKey, Series] = {}
        self._pushed_ns = clock.now_ns()
        self._closed = False

    async def export(self, verdicts: Sequence[Verdict]) -> None:
        self._totals.add(verdicts)

    async def run(self) -> None:
        while True:
            await self._clock.sleep(self._interval_s)
            await self._try_push()

    async def close(self) -> None:
        """Push what is there, once, and close the sender."""
        if self._closed:
            return
        self._closed = True
        try:
            await self._try_push()
        finally:
            await self._sender.close()

    async def push(self) -> None:
        """Raises what the sender raises."""
        now = self._totals.snapshot()
        now_ns = self._clock.now_ns()
        shown = now
        if self._delta:
            shown = difference(now, self._pushed)
            for series in shown.values():
                series.start_ns = max(self._pushed_ns, series.start_ns)
        if not shown:
            return
        request = metrics_request(
            shown, now_ns=now_ns, version=self._version, instance_id=self._instance_id, delta=self._delta
        )
        await self._sender.send(Signal.METRICS, request.SerializeToString(deterministic=True))
        self._pushed, self._pushed_ns = now, now_ns

    async def _try_push(self) -> None:
        try:
            await within(self._timeout_s, self.push(), clock=self._clock)
        except (RetryableError, PermanentError) as err:
            self._count_failure()
            log.warning("metrics push failed", exporter=self.name, error=str(err))
        except TimeoutError:
            self._count_failure()
            log.warning("metrics push failed", exporter=self.name, error="no answer in time", timeout_s=self._timeout_s)
        except Exception as err:  # noqa: BLE001 - supervision point: a failed push must not end the ones after it
            self._count_failure()
            log_crash(log, "metrics push crashed", err, exporter=self.name)

    def _count_failure(self) -> None:
        if self._failures is not None:
            self._failures.labels(self.name).inc()
