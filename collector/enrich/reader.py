"""Between the journal and a relay: what is read passes through a hold, and what the hold lets go is read as well.

The journal's cursor moves over requests whose rest was sent, whether or not spans of them are still held: those are in
the hold's own file.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import structlog

from collector.clock import Clock
from collector.enrich.hold import Hold
from collector.errors import RetryableError
from collector.journal.protocol import JournalRecord, Position, Reader

log = structlog.get_logger(__name__)

_LOOK_S = 0.05
"""How late a span may leave whose scores are in."""
_MAINTAIN_S = 60.0


class HoldingReader:
    """Implements `journal.protocol.Reader`. Closes the reader it was given, not the hold."""

    def __init__(self, reader: Reader, hold: Hold, *, clock: Clock) -> None:
        self._reader = reader
        self._hold = hold
        self._clock = clock
        self._again = hold.begin_reading()
        self._untaken: Sequence[JournalRecord] = ()
        self._at = Position(0, 0)
        self._maintained_s = clock.monotonic_s()

    def read(self, *, max_bytes: int) -> Sequence[JournalRecord]:
        """Raises RetryableError where the hold's file refuses; nothing is lost by it."""
        if not self._untaken:
            self._untaken = self._reader.read(max_bytes=max_bytes)
        passing: list[JournalRecord] = []
        if self._untaken:
            passing = self._hold.take(self._untaken)
            self._at, self._untaken = self._untaken[-1].next_position, ()
        try:
            leaving = self._again or self._hold.due(max_bytes=max_bytes)
        except RetryableError as err:
            # What passes must not be lost with it.
            log.warning("held spans not let go", error=str(err))
            return passing
        self._again = []
        return passing + [spans.record(at=self._at) for spans in leaving]

    def wait(self, *, timeout_s: float) -> bool:
        left_s = timeout_s
        while not (self._again or self._untaken or self._hold.has_due()):
            if left_s <= 0:
                self._maintain()
                return False
            if self._reader.wait(timeout_s=min(_LOOK_S, left_s)):
                return True
            left_s -= _LOOK_S
        return True

    def commit(self, position: Position) -> None:
        self._hold.sync()
        self._reader.commit(position)
        # Only behind the cursor, which says what is read again.
        self._hold.passed(position)

    def close(self) -> None:
        self._reader.close()

    def _maintain(self) -> None:
        now_s = self._clock.monotonic_s()
        if now_s - self._maintained_s >= _MAINTAIN_S:
            self._maintained_s = now_s
            self._hold.maintain()


class NothingMore:
    """A journal's reader at its end, for a hold that only lets go."""

    def read(self, *, max_bytes: int) -> Sequence[JournalRecord]:
        del max_bytes
        return ()

    def wait(self, *, timeout_s: float) -> bool:
        time.sleep(timeout_s)
        return False

    def commit(self, position: Position) -> None:
        """There is no place to keep."""

    def close(self) -> None:
        """There is nothing to close."""
