"""Held spans on their way: several in one request, and which ones those are, so that all are noted with its answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import structlog

from collector.enrich.cutting import with_attributes
from collector.enrich.held_span import HeldSpan
from collector.enrich.store import HoldStore
from collector.errors import MalformedRequestError
from collector.journal.protocol import JournalRecord, Position
from collector.telemetry.records import Signal

log = structlog.get_logger(__name__)

_TOGETHER = 256
_TOGETHER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class LeavingSpans:
    """What is sent in one request."""

    number: int
    """Of the first span."""
    received_ns: int
    body: bytes

    def record(self, *, at: Position) -> JournalRecord:
        """For the relay, which sends records; `at` is how far the journal was read."""
        return JournalRecord(
            position=Position(-1, self.number),
            next_position=at,
            signal=Signal.TRACES,
            received_ns=self.received_ns,
            body=self.body,
        )


class Leaving:
    def __init__(self, store: HoldStore) -> None:
        self._store = store
        self._numbers: dict[int, tuple[int, ...]] = {}
        """Of the spans in one request, by the first."""

    def together(self, rows: Sequence[HeldSpan]) -> list[LeavingSpans]:
        """Two requests written one after the other are one that holds both, and no byte of a span is another."""
        found: list[LeavingSpans] = []
        while rows:
            bodies: list[bytes] = []
            size = 0
            for row in rows[:_TOGETHER]:
                bodies.append(self._body(row))
                size += len(bodies[-1])
                if size >= _TOGETHER_BYTES:
                    break
            group, rows = rows[: len(bodies)], rows[len(bodies) :]
            self._numbers[group[0].seq] = tuple(row.seq for row in group)
            found.append(LeavingSpans(group[0].seq, group[0].received_ns, b"".join(bodies)))
        return found

    def numbers(self, record: JournalRecord) -> tuple[int, ...]:
        """Of the held spans in what the relay sent."""
        return self._numbers.get(record.position.offset, ()) if is_leaving(record) else ()

    def forget(self, records: Iterable[JournalRecord]) -> None:
        for record in records:
            if is_leaving(record):
                self._numbers.pop(record.position.offset, None)

    def _body(self, row: HeldSpan) -> bytes:
        body = self._store.body(row.seq)
        try:
            return with_attributes(body, row.attributes) if row.attributes else body
        except MalformedRequestError:
            log.warning("span cannot take scores", bytes=len(body))
            return body


def is_leaving(record: JournalRecord) -> bool:
    """Not from the journal, but from a hold."""
    return record.position.segment < 0
