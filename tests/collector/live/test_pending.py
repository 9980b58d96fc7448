"""Spans that wait for their trace are bounded in bytes and age, and say from where the journal is to be read again."""

from __future__ import annotations

from collector.journal.protocol import Position
from collector.live.pending import PendingSpans, RawSpan

SECOND_NS = 1_000_000_000


def raw(size: int = 100) -> RawSpan:
    return RawSpan(resource=b"", scope=b"", span=b"x" * size)


def test_the_oldest_waiting_record_is_where_reading_begins_again():
    pending = PendingSpans(max_bytes=10_000, max_age_s=10)

    pending.add(Position(1, 0), arrived_ns=0, items={"a": [raw()]})
    pending.add(Position(1, 50), arrived_ns=5 * SECOND_NS, items={"b": [raw()]})

    assert pending.oldest_position() == Position(1, 0)
    assert pending.expire(11 * SECOND_NS) == 1
    assert pending.oldest_position() == Position(1, 50)
    assert pending.expire(16 * SECOND_NS) == 1
    assert pending.oldest_position() is None
    assert pending.bytes == 0


def test_too_much_lets_the_oldest_go():
    pending = PendingSpans(max_bytes=3000, max_age_s=1000)

    for number in range(100):
        pending.add(Position(1, number), arrived_ns=0, items={str(number): [raw()]})
        pending.expire(0)

    assert pending.bytes <= 3000
    assert pending.of("99")
    assert not pending.of("0")


def test_a_trace_goes_as_a_whole():
    pending = PendingSpans(max_bytes=10_000, max_age_s=10)
    pending.add(Position(1, 0), arrived_ns=0, items={"a": [raw()]})
    pending.add(Position(1, 50), arrived_ns=8 * SECOND_NS, items={"a": [raw()]})

    assert len(pending.of("a")) == 2
    assert pending.expire(11 * SECOND_NS) == 2
    assert pending.of("a") == []


def test_what_was_taken_is_not_counted_as_gone():
    pending = PendingSpans(max_bytes=10_000, max_age_s=10)
    pending.add(Position(1, 0), arrived_ns=0, items={"a": [raw()], "b": [raw()]})

    pending.discard("a")

    assert pending.expire(11 * SECOND_NS) == 1
