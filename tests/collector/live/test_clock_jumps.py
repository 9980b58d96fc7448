"""An NTP step by hours neither closes every conversation at once nor keeps any open."""

from __future__ import annotations

import pytest

from tests.support.agent_telemetry import AgentTelemetry
from tests.support.live_state import keys_of

HOUR_S = 3600


@pytest.mark.parametrize("jump_s", [HOUR_S, -HOUR_S, 24 * HOUR_S, -24 * HOUR_S])
async def test_a_jump_of_the_wall_clock_changes_no_timer(live, jump_s):
    agents = [AgentTelemetry(f"c{n}", name=f"c{n}") for n in range(10)]
    for agent in agents:
        live.send(*agent.turn("order 1"))
    await live.advance(7)
    assert len(live.due()) == 10

    live.clock.jump(jump_s)
    live.send(*agents[0].turn("order 2"))
    await live.advance(1)
    at_once = live.due()
    await live.advance(6)
    next_turn = live.due()
    await live.advance(286)
    conversations = live.due()

    assert at_once == []
    assert keys_of(next_turn) == [("turn", 0)]
    assert len(conversations) == 9
    await live.advance(10)
    assert len(live.due()) == 1


async def test_a_restart_keeps_the_timers(live):
    live.send(*AgentTelemetry().turn("order 1"))
    await live.advance(4)
    live.restart()
    await live.advance(1)
    early = live.due()

    await live.advance(1)

    assert early == []
    assert keys_of(live.due()) == [("turn", 0)]


async def test_a_backlog_is_not_taken_for_silence(live):
    agent = AgentTelemetry()
    for number in range(4):
        live.receive(_body(agent, number))
        await live.clock.advance(100)

    for record in live.journal.records:
        live.tracker.ingest([record])
        found = live.due()
        assert all(unit.key.startswith("turn:") for unit in found)
    live.tracker.caught_up()
    live.due()
    await live.advance(201)

    assert keys_of(live.due()) == [("conversation", 0)]


def _body(agent: AgentTelemetry, number: int) -> bytes:
    from tests.support.agent_telemetry import trace_body

    return trace_body(agent.turn(f"order {number}"))
