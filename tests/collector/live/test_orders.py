"""The live state gives what offline reconstruction gives, whatever the order, the cut into requests, and repetition."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.assembly.reconstruct import reconstruct
from collector.live.ready import ReadyConversation, Withdrawn
from collector.model import Conversation
from collector.telemetry.records import Signal
from tests.support.agent_telemetry import AgentTelemetry, trace_body, unrelated_span
from tests.support.live_state import LiveHarness


def spans_of(*agents: AgentTelemetry, with_agent: bool) -> list[Span]:
    found: list[Span] = []
    for agent in agents:
        for number in range(3):
            turn = agent.turn(f"order {number}", answer=f"Answer {number}.", with_agent=with_agent)
            for span in turn:
                if not with_agent:
                    # Bare calls of a client: nothing but the messages says what belongs together.
                    span.trace_id = span.span_id + span.span_id
            found += [*turn, unrelated_span(turn[0].trace_id, f"db {agent.name} {number}", parent=turn[0].span_id)]
    return found


CASES = {
    "with ids": lambda: spans_of(AgentTelemetry("c1", name="c1"), AgentTelemetry("c2", name="c2"), with_agent=True),
    "without ids": lambda: spans_of(
        AgentTelemetry(None, name="n1"), AgentTelemetry(None, name="n2", system="Sing."), with_agent=True
    ),
    "an id on one of two": lambda: spans_of(
        AgentTelemetry("c1", name="c1"), AgentTelemetry(None, name="n2"), with_agent=True
    ),
    "bare calls": lambda: spans_of(AgentTelemetry(None, name="n1"), with_agent=False),
}


async def last_words(live: LiveHarness) -> list[Conversation]:
    """The newest content of every conversation that was not withdrawn."""
    found: dict[str, Conversation] = {}
    for _ in range(4):
        await live.advance(2000)
        for unit in live.due():
            if isinstance(unit, ReadyConversation):
                found[unit.key] = unit.conversation
            elif isinstance(unit, Withdrawn):
                found.pop(unit.key, None)
    return sorted(found.values(), key=lambda c: (c.turns[0].start_ns, c.service or "", c.conversation_id))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("case", CASES)
async def test_any_order_split_and_repetition_gives_the_same_conversations(tmp_path: Path, case: str, seed: int):
    rng = random.Random(seed)
    spans = CASES[case]()
    expected = reconstruct([(Signal.TRACES, trace_body(spans))])
    rng.shuffle(spans)
    requests = []
    while spans:
        size = rng.randint(1, 6)
        requests += [trace_body(spans[:size])] * rng.randint(1, 3)
        spans = spans[size:]
    rng.shuffle(requests)
    live = LiveHarness(tmp_path)

    for request in requests:
        live.receive(request)
        if rng.random() < 0.5:
            live.read()
        if rng.random() < 0.3:
            await live.advance(rng.choice([1, 10, 100]))
            live.due()
        if rng.random() < 0.1:
            live.restart()
    live.read()
    found = await last_words(live)

    assert found == expected
    live.close()
