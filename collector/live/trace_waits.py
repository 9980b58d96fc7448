"""How long more of a trace is waited for: by whether it ended, and by how long others of its agent kept us waiting."""

from __future__ import annotations

from collector.live.metrics import LiveMetrics
from collector.live.pace_store import PaceStore
from collector.live.readiness import ReadinessConfig
from collector.live.staging import Staged
from collector.live.store import TraceRow

_MAX_PROFILE = 200


class TraceWaits:
    def __init__(self, paces: PaceStore, *, rules: ReadinessConfig, metrics: LiveMetrics) -> None:
        self._paces = paces
        self._rules = rules
        self._metrics = metrics

    def observe(self, row: TraceRow, item: Staged) -> None:
        """Note who it is, whether it ended, and how long it made us wait."""
        arrival = item.arrival
        for fragment in item.fragments:
            operation = fragment.operation
            if row.conversation_id is None and operation.conversation_id:
                row.conversation_id = operation.conversation_id
            if row.profile.endswith("/"):
                agent = operation.agent.name if operation.agent is not None else None
                row.profile = f"{operation.service or ''}/{agent or ''}"[:_MAX_PROFILE]
        if row.last_ns >= 0:
            pace = self._paces.changed(row.profile)
            if row.ended_ns is not None:
                self._metrics.staged.add(self._metrics.late, count=len(item.fragments))
                pace.settle.add((arrival.first_ns - row.ended_ns) / 1e9)
            else:
                pace.gaps.add((arrival.first_ns - row.last_ns) / 1e9)
        if row.ended_ns is None and item.is_closed:
            row.ended_ns = arrival.last_ns
        row.last_ns = arrival.last_ns

    def wait_s(self, row: TraceRow) -> float:
        pace = self._paces.of(row.profile)
        rules = self._rules
        return rules.quiet.seconds(pace.settle) if row.ended_ns is not None else rules.turn_idle.seconds(pace.gaps)
