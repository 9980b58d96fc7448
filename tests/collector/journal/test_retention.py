from __future__ import annotations

import pytest

from collector.errors import JournalFullError
from tests.collector.journal.journals import MAX_BYTES, Journal, append, drain

BODY = b"x" * 3000
"""One fills a segment."""


def fill(journal: Journal, count: int, *, evaluator_reads: bool) -> list[bytes]:
    """Append, with the firm reader keeping up or not; what was appended."""
    log = journal.open_log()
    reader = journal.open_reader("evaluator")
    bodies = [BODY + number.to_bytes(2, "big") for number in range(count)]
    try:
        for body in bodies:
            append(log, body)
            if evaluator_reads:
                reader.commit(drain(reader)[-1].next_position)
            log.collect()
    finally:
        reader.close()
        log.close()
    return bodies


def test_a_yielding_reader_that_is_stuck_never_fills_the_journal(tmp_path) -> None:
    journal = Journal(tmp_path, yielding=("relay",))
    journal.write(b"the last that the relay saw")
    relay = journal.open_reader("relay")
    relay.commit(drain(relay)[-1].next_position)
    relay.close()

    bodies = fill(journal, 40, evaluator_reads=True)

    left = journal.read_bodies("relay")
    assert left == bodies[-len(left) :]
    assert 0 < len(left) < 40
    assert journal.value("lost_records_total", cursor="relay") == 40 - len(left)
    assert journal.value("yielded_segments_total", cursor="relay") > 0


def test_a_yielding_reader_keeps_its_data_while_there_is_room(tmp_path) -> None:
    journal = Journal(tmp_path, yielding=("relay",))

    bodies = fill(journal, MAX_BYTES * 3 // 4 // 4096 - 2, evaluator_reads=True)

    assert journal.read_bodies("relay") == bodies
    assert journal.value("lost_records_total", cursor="relay") == 0


def test_a_firm_reader_that_is_stuck_fills_the_journal_and_loses_nothing(tmp_path) -> None:
    journal = Journal(tmp_path, yielding=("relay",))

    with pytest.raises(JournalFullError):
        fill(journal, 40, evaluator_reads=False)

    assert journal.value("yielded_segments_total", cursor="relay") == 0
    assert journal.read_bodies("evaluator") == journal.read_bodies("relay")
