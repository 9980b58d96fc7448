"""Whatever crashes, wherever: the state and what is handed over are as if nothing had."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from collector.live.ready import Ready, ReadyConversation
from tests.support.agent_telemetry import AgentTelemetry, trace_body, unrelated_span
from tests.support.live_state import LiveHarness, keys_of

CHECKOUT = Path(__file__).parents[3]


def bodies() -> list[bytes]:
    """Two conversations, one without an id, cut into many requests, with other traffic between."""
    spans = []
    for agent in (AgentTelemetry(), AgentTelemetry(conversation_id=None, name="nameless")):
        for number in range(3):
            turn = agent.turn(f"order {number} of {agent.name}")
            spans += [*turn, unrelated_span(turn[0].trace_id, f"{agent.name} {number}", parent=turn[0].span_id)]
    random.Random(3).shuffle(spans)
    return [trace_body(spans[start : start + 3]) for start in range(0, len(spans), 3)]


async def outcome(live: LiveHarness) -> set[tuple[str, bytes]]:
    """The last content of every conversation after all is quiet."""
    found: dict[str, Ready] = {}
    for _ in range(3):
        await live.advance(2000)
        found |= {unit.key: unit for unit in live.due()}
    return {(key, unit.content_digest) for key, unit in found.items() if isinstance(unit, ReadyConversation)}


async def expected(folder: Path) -> set[tuple[str, bytes]]:
    live = LiveHarness(folder)
    for body in bodies():
        live.receive(body)
    live.read()
    found = await outcome(live)
    live.close()
    return found


async def test_a_restart_after_every_step_changes_nothing(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    live = LiveHarness(tmp_path / "b")
    for body in bodies():
        live.receive(body)
        live.read()
        live.restart()
        live.due()
        live.restart()

    found = await outcome(live)

    assert len(found) == 2
    assert found == await expected(tmp_path / "a")
    live.close()


async def test_records_read_again_after_a_crash_before_the_cursor_was_committed_change_nothing(live):
    for body in bodies():
        live.receive(body)
    live.read()
    first = await outcome(live)
    stored = live.count("adhere_live_items_total", outcome="stored")

    live.restart()
    live.read(live.journal.records)

    assert live.count("adhere_live_items_total", outcome="stored") == stored
    assert len(first) == 2
    await live.advance(4000)
    assert live.due() == []


async def test_what_was_not_acknowledged_is_handed_over_again_as_the_same(tmp_path):
    live = LiveHarness(tmp_path)
    live.send(*AgentTelemetry().turn("order 7"))
    await live.advance(7)
    (first,) = live.due(acknowledge=False)
    assert live.due(acknowledge=False) == []

    live.restart()
    (again,) = live.due()
    live.restart()

    assert again == first
    assert live.due() == []
    live.close()


async def test_a_postponed_unit_comes_again_later(live):
    live.send(*AgentTelemetry().turn("order 7"))
    await live.advance(7)
    (first,) = live.due(acknowledge=False)

    live.tracker.postpone(first, 60)
    await live.advance(59)
    early = live.due()
    await live.advance(1)

    assert early == []
    assert live.due() == [first]


async def test_waiting_spans_are_read_again_after_a_crash(live):
    spans = AgentTelemetry().turn("order 7")
    live.send(unrelated_span(spans[0].trace_id, "database", parent=spans[1].span_id))
    assert live.tracker.position == live.journal.records[0].position

    live.restart()
    live.read()
    live.send(*spans)

    assert live.count("adhere_live_items_total", outcome="stored") == 5
    assert live.tracker.position is not None
    await live.advance(130)
    live.send(*spans)
    assert live.tracker.position == live.journal.records[-1].next_position


async def test_a_failed_transaction_leaves_no_trace(live):
    agent = AgentTelemetry(system="A long prompt. " * 20_000)
    record = live.receive(trace_body(agent.turn("order 7")))
    database = live.tracker._state.database
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    database.execute(f"PRAGMA max_page_count = {pages}")

    with pytest.raises(sqlite3.OperationalError, match="full"):
        live.tracker.ingest([record])
    database.execute("PRAGMA max_page_count = 1000000")
    live.read()
    await live.advance(7)

    assert keys_of(live.due()) == [("turn", 0)]


@pytest.mark.parametrize("waiting", [0, 1], ids=["nothing waits", "a span waits"])
async def test_a_commit_that_is_refused_leaves_no_trace(live, waiting):
    """As a full disk does: the last statement fails, when all that it concerns is in memory."""
    spans = AgentTelemetry().turn("order 7")
    for _ in range(waiting):
        live.send(unrelated_span(spans[0].trace_id, "database", parent=spans[1].span_id))
    before = live.tracker.position
    record = live.receive(trace_body(spans))
    database = live.tracker._state.database
    database.set_authorizer(
        lambda action, what, *_: (
            sqlite3.SQLITE_DENY if (action, what) == (sqlite3.SQLITE_TRANSACTION, "COMMIT") else sqlite3.SQLITE_OK
        )
    )

    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        live.tracker.ingest([record])
    after, counted = live.tracker.position, live.count("adhere_live_items_total", outcome="stored")
    read = live.count("adhere_live_records_total", outcome="read")
    database.set_authorizer(None)
    live.tracker.ingest([record])
    await live.advance(7)

    assert after == before
    assert counted == 0
    assert live.count("adhere_live_items_total", outcome="stored") == len(spans) + waiting
    assert (read, live.count("adhere_live_records_total", outcome="read")) == (waiting, waiting + 1)
    assert keys_of(live.due()) == [("turn", 0)]


async def test_a_journal_that_was_begun_anew_is_read_from_its_start(live):
    live.send(*AgentTelemetry().turn("order 7"), *AgentTelemetry("c2", name="c2").turn("order 8"))
    live.journal.records.clear()
    await live.advance(60)

    live.read([live.receive(trace_body(AgentTelemetry("c3", name="c3").turn("order 9")))])

    assert live.tracker.get("c3").turns


async def test_a_killed_process_continues_where_its_last_commit_was(tmp_path):
    """A real process, killed while it writes, again and again; then read on to the end."""
    folder = tmp_path / "killed"
    folder.mkdir()
    rng = random.Random(11)
    for _ in range(3):
        write_and_kill(folder, commits=rng.randint(1, 4))
    live = LiveHarness(folder)
    for body in bodies():
        live.receive(body)
    live.read()

    found = await outcome(live)

    (tmp_path / "calm").mkdir()
    assert found == await expected(tmp_path / "calm")
    live.close()


def write_and_kill(folder: Path, *, commits: int) -> None:
    command = [sys.executable, "-m", "tests.support.live_writer", str(folder)]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(commits):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
