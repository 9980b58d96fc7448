"""Deletes finished segments that every expected cursor has passed, and tells how far behind each cursor is.

An expected cursor without a file is before everything: it holds all data. A cursor file that nobody expects any
more holds nothing. Without any expected cursor, every finished segment may go.

Some cursors are *yielding*: they hold data only while there is room. Above `yield_above_bytes` the oldest segments go
that only they still hold, so that a backend that is down for days costs its own backlog and not everybody's intake. Its
reader finds the gap by the records' ids and counts what it lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog

from collector.clock import Clock
from collector.journal.cursor import START, check_cursor_name, list_cursors, peek_cursor
from collector.journal.errors import JournalVersionError
from collector.journal.files import Files
from collector.journal.lookup import find_record
from collector.journal.metrics import JournalMetrics
from collector.journal.protocol import Position
from collector.journal.segment import segment_path

log = structlog.get_logger(__name__)


class Retention:
    def __init__(
        self,
        directory: Path,
        *,
        cursors: Sequence[str],
        yielding: Sequence[str] = (),
        yield_above_bytes: int = 0,
        clock: Clock,
        metrics: JournalMetrics,
        files: Files,
    ) -> None:
        self._directory = directory
        self._yielding = frozenset(check_cursor_name(name) for name in yielding)
        self._cursors = (*(check_cursor_name(name) for name in cursors), *sorted(self._yielding))
        self._yield_above_bytes = yield_above_bytes
        self._clock = clock
        self._metrics = metrics
        self._files = files

    def report_unexpected(self) -> None:
        for name in list_cursors(self._directory):
            if name not in self._cursors:
                log.info("journal cursor without a reader ignored", cursor=name)

    def is_passed_by_all(self, end: Position) -> bool:
        return all(self._position(name) >= end for name in self._cursors)

    def collect(self, sizes: dict[int, int]) -> int:
        """Delete from the oldest on and forget their sizes; the number deleted."""
        positions = {name: self._position(name) for name in self._cursors}
        self._observe_ages(positions)
        deleted = 0
        for number in sorted(sizes):
            end = Position(number, sizes[number])
            holders = [name for name, position in positions.items() if position < end]
            if not self._may_go(holders, sizes) or not self.delete(number):
                break
            for name in holders:
                self._metrics.yielded_segments.labels(name).inc()
                log.warning("journal segment taken from a slow reader", segment=number, cursor=name)
            del sizes[number]
            deleted += 1
        if deleted:
            self._metrics.deleted_segments.inc(deleted)
            log.info("journal segments deleted", segments=deleted)
        return deleted

    def _may_go(self, holders: Sequence[str], sizes: dict[int, int]) -> bool:
        if not holders:
            return True
        return self._yielding.issuperset(holders) and sum(sizes.values()) > self._yield_above_bytes

    def delete(self, number: int) -> bool:
        try:
            self._files.unlink(segment_path(self._directory, number))
        except FileNotFoundError:
            return True
        except OSError as err:
            self._metrics.disk_failures.labels("delete").inc()
            log.warning("journal segment not deleted", segment=number, error=str(err))
            return False
        return True

    def _position(self, name: str) -> Position:
        try:
            return peek_cursor(self._directory, name, files=self._files)
        except JournalVersionError:
            return START.position

    def _observe_ages(self, positions: Mapping[str, Position]) -> None:
        now_ns = self._clock.now_ns()
        ages_s: dict[Position, float] = {}
        for name, position in positions.items():
            if position not in ages_s:
                header = find_record(self._directory, position, files=self._files)
                ages_s[position] = 0.0 if header is None else max(0.0, (now_ns - header.received_ns) / 1e9)
            self._metrics.oldest_unread_seconds.labels(name).set(ages_s[position])
