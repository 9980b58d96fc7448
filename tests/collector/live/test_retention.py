"""The state stays within its age and its bytes; whole conversations go, and nothing of them is left behind."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from collector.live.find import ConversationNotFoundError
from collector.live.settings import LiveConfig
from tests.support.agent_telemetry import AgentTelemetry
from tests.support.live_state import LiveHarness

_TABLES = ("content", "node", "component", "trace", "fragment", "link_id", "link_provided", "link_needed", "unit")
DAY_S = 24 * 3600


def row_counts(live: LiveHarness) -> dict[str, int]:
    with sqlite3.connect(live.path) as database:
        counts = {table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in _TABLES}
    database.close()
    return counts


def maintain(live: LiveHarness) -> None:
    for _ in range(1000):
        if not live.tracker.maintain():
            return
    raise AssertionError("maintenance does not end")


async def test_what_is_older_than_the_retention_goes_and_leaves_nothing(live):
    for number in range(70):
        agent = AgentTelemetry(f"c{number}" if number % 2 else None, name=f"c{number}")
        live.send(*agent.turn(f"order {number}"), *agent.turn("another"))
    await live.advance(2000)
    live.due()

    await live.advance(8 * DAY_S)
    maintain(live)

    assert set(row_counts(live).values()) == {0}
    assert live.count("adhere_live_retired_conversations_total", reason="age") == 70


async def test_a_conversation_that_goes_on_keeps_its_beginning(live):
    agent = AgentTelemetry()
    live.send(*agent.turn("order 1"))
    await live.advance(5 * DAY_S)
    live.send(*agent.turn("order 2"))
    await live.advance(5 * DAY_S)

    maintain(live)

    assert [turn.user_input for turn in live.tracker.get("conversation-1").turns] == ["order 1", "order 2"]


async def test_over_the_bound_in_bytes_the_quietest_go_first(tmp_path: Path):
    live = LiveHarness(tmp_path, config=replace(LiveConfig(), max_bytes=400_000))
    for number in range(60):
        agent = AgentTelemetry(f"c{number:02}", name=f"c{number}", system=f"{number} " * 5000)
        live.send(*agent.turn("order"))
        await live.advance(1)

    maintain(live)

    assert live.count("adhere_live_state_bytes") <= 400_000
    assert live.tracker.get("c59").turns
    with pytest.raises(ConversationNotFoundError):
        live.tracker.get("c00")
    assert live.count("adhere_live_retired_conversations_total", reason="bytes") > 0
    live.close()


async def test_the_file_gives_its_space_back(tmp_path: Path):
    live = LiveHarness(tmp_path)
    for number in range(40):
        live.send(*AgentTelemetry(f"c{number}", name=f"c{number}", system=f"{number} " * 20_000).turn("order"))
    before = row_counts(live)["content"]
    await live.advance(8 * DAY_S)
    maintain(live)
    live.tracker.maintain()
    live.close()

    assert before > 40
    assert live.path.stat().st_size < 300_000


async def test_a_conversation_that_lives_on_keeps_what_it_shares_with_one_that_goes(live):
    live.send(*AgentTelemetry("old", name="old").turn("the same"))
    await live.advance(5 * DAY_S)
    live.send(*AgentTelemetry("new", name="new").turn("the same"))
    await live.advance(3 * DAY_S)

    maintain(live)

    with pytest.raises(ConversationNotFoundError):
        live.tracker.get("old")
    found = live.tracker.get("new")
    assert found.system_instructions == "You help people with their orders."
    assert found.turns[0].user_input == "the same"
    live.send(*AgentTelemetry("newer", name="newer").turn("the same"))
    assert live.tracker.get("newer").turns[0].output == found.turns[0].output


async def test_a_conversation_over_its_bound_takes_no_more(tmp_path: Path):
    live = LiveHarness(tmp_path, config=replace(LiveConfig(), max_conversation_bytes=20_000))
    agent = AgentTelemetry()
    for number in range(60):
        live.send(*agent.turn(f"order {number} " * 20))

    assert live.count("adhere_live_items_total", outcome="too_large") > 0
    assert 1 <= len(live.tracker.get("conversation-1").turns) < 60
    counts = row_counts(live)
    assert counts["fragment"] == 4 * len(live.tracker.get("conversation-1").turns)
    with sqlite3.connect(live.path) as database:
        assert database.execute("SELECT count(*) FROM content WHERE refs <= 0").fetchone() == (0,)
    database.close()
    live.close()
