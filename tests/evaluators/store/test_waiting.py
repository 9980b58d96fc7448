from __future__ import annotations

import pytest

from evaluators.content import content_digest
from evaluators.store import waiting
from evaluators.store.explain import explain
from evaluators.store.opening import open_database
from evaluators.store.unit_codec import decode_unit
from tests.support.clock import ManualClock
from tests.support.conversations import refund_conversation, turn_unit


@pytest.fixture
def connection(tmp_path):
    found = open_database(tmp_path / "verdicts.sqlite", clock=ManualClock())
    yield found
    found.close()


def unit_of(conversation_id):
    return turn_unit(refund_conversation(verified=True, conversation_id=conversation_id))


def enqueue(connection, conversation_id, *, evaluator="e", subject=None, at=1):
    unit = unit_of(conversation_id)
    return waiting.enqueue(
        connection,
        unit,
        digest=content_digest(unit),
        subject=subject or f"{conversation_id}-{evaluator}",
        evaluator=evaluator,
        enqueued_ns=at,
    )


def take(connection, *evaluators, now=10, limit=10):
    return [job.conversation_id for job in waiting.take_due(connection, evaluators or ("e",), now_ns=now, limit=limit)]


def test_the_oldest_is_taken_first_and_once(connection):
    for name in ("b", "a", "c"):
        enqueue(connection, name)

    assert take(connection, limit=2) == ["b", "a"]
    assert take(connection) == ["c"]
    assert take(connection) == []


def test_only_what_is_due_for_the_asked_evaluators_is_taken(connection):
    enqueue(connection, "a")
    enqueue(connection, "a", evaluator="other")
    (job,) = waiting.take_due(connection, ("e",), now_ns=1, limit=5)
    waiting.put_back(connection, job, not_before_ns=100)

    assert take(connection, "e", now=99) == []
    assert waiting.next_due_ns(connection, ("e",)) == 100
    assert take(connection, "e", now=100) == ["a"]


def test_content_is_stored_once_and_goes_with_its_last_job(connection):
    enqueue(connection, "a", evaluator="e1")
    enqueue(connection, "a", evaluator="e2")
    first, second = waiting.jobs_of_conversation(connection, "a")
    assert connection.execute("SELECT count(*) FROM units").fetchone() == (1,)

    waiting.remove(connection, first)
    assert decode_unit(waiting.unit_body(connection, second)[1]) == unit_of("a")

    waiting.remove(connection, second)
    assert connection.execute("SELECT count(*) FROM units").fetchone() == (0,)


def test_a_later_revision_takes_the_place_of_one_that_waits(connection):
    enqueue(connection, "a", subject="s0")

    replaced = enqueue(connection, "a", subject="s1")

    assert replaced is not None
    assert replaced.subject == "s0"
    assert [job.subject for job in waiting.jobs_of_conversation(connection, "a")] == ["s1"]


def test_a_job_that_is_gone_is_neither_put_back_nor_buried(connection):
    enqueue(connection, "a", subject="s0")
    (job,) = waiting.take_due(connection, ("e",), now_ns=1, limit=1)
    enqueue(connection, "a", subject="s1")

    assert not waiting.put_back(connection, job, not_before_ns=5)
    assert not waiting.bury(connection, job)
    assert not waiting.remove(connection, job)


def test_the_dead_are_kept_and_not_taken(connection):
    enqueue(connection, "a")
    (job,) = waiting.take_due(connection, ("e",), now_ns=1, limit=1)

    waiting.bury(connection, job)

    assert take(connection) == []
    assert waiting.totals(connection).dead == 1


def test_nobody_is_told_to_wait_for_the_dead(connection):
    enqueue(connection, "a")
    assert [job.evaluator for job in explain(connection, "a").waiting] == ["e"]

    (job,) = waiting.take_due(connection, ("e",), now_ns=1, limit=1)
    waiting.bury(connection, job)

    assert explain(connection, "a").waiting == ()


def test_beyond_the_bound_the_dead_and_then_the_oldest_go_and_never_the_running(connection):
    for name in ("running", "old", "dead", "new"):
        enqueue(connection, name)
    size = waiting.totals(connection).content_bytes // 4
    waiting.take_due(connection, ("e",), now_ns=1, limit=1)
    (dead,) = waiting.jobs_of_conversation(connection, "dead")
    waiting.bury(connection, dead)

    def beyond(kept):
        return [job.conversation_id for job in waiting.jobs_beyond(connection, max_bytes=int(kept * size * 1.05))]

    assert (beyond(4), beyond(3), beyond(2), beyond(1)) == ([], ["dead"], ["dead", "old"], ["dead", "old", "new"])
    assert beyond(0) == ["dead", "old", "new"]


def test_what_was_running_waits_again_after_a_start(connection):
    enqueue(connection, "a")
    take(connection)

    assert [job.conversation_id for job in waiting.release_running(connection)] == ["a"]
    assert take(connection) == ["a"]


def enqueue_turn(connection, index, *, conversation_id="long"):
    unit = turn_unit(refund_conversation(verified=True, conversation_id=conversation_id), index)
    return waiting.enqueue(
        connection, unit, digest=content_digest(unit), subject=f"t{index}", evaluator="e", enqueued_ns=1
    )


def test_turns_of_one_conversation_are_taken_one_at_a_time_and_in_order(connection):
    enqueue_turn(connection, 0)
    enqueue_turn(connection, 1)
    enqueue(connection, "another")

    (first, other) = waiting.take_due(connection, ("e",), now_ns=1, limit=5)

    assert (first.subject, other.conversation_id) == ("t0", "another")
    assert waiting.take_due(connection, ("e",), now_ns=1, limit=5) == []
    assert waiting.next_due_ns(connection, ("e",)) is None
    waiting.remove(connection, first)
    assert [job.subject for job in waiting.take_due(connection, ("e",), now_ns=1, limit=5)] == ["t1"]


def test_a_turn_that_was_put_off_holds_no_later_one_up(connection):
    enqueue_turn(connection, 0)
    enqueue_turn(connection, 1)
    (first,) = waiting.take_due(connection, ("e",), now_ns=1, limit=5)
    waiting.put_back(connection, first, not_before_ns=100)

    (second,) = waiting.take_due(connection, ("e",), now_ns=1, limit=5)

    assert second.subject == "t1"
    assert waiting.take_due(connection, ("e",), now_ns=100, limit=5) == []
    waiting.remove(connection, second)
    assert waiting.next_due_ns(connection, ("e",)) == 100
