"""Looks that go on from earlier ones hand over what first looks would: units, revisions, contents, digests, reasons."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from collector.live.ready import ReadyConversation
from collector.live.settings import LiveConfig
from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import Signal
from tests.collector.live.test_orders import CASES
from tests.support.agent_telemetry import AgentTelemetry, trace_body
from tests.support.corpus import THOROUGH, captures, sampled
from tests.support.growing import ForgetfulReconstruction
from tests.support.live_state import LiveHarness
from tests.support.recut import Request, single_items

SHORT = LiveConfig(retention_s=3000)


async def hold_against(folder: Path, items: list[Request], rng: random.Random) -> None:
    """The same fate for both: batches, pauses, crashes, retention."""
    kept, forgetful = folder / "kept", folder / "forgetful"
    both = []
    for place, reconstruction in ((kept, None), (forgetful, ForgetfulReconstruction())):
        place.mkdir()
        both.append(LiveHarness(place, config=SHORT, reconstruction=reconstruction))
    left = list(items)
    while left or rng.random() < 0.7:
        portion, left = left[:9], left[9:]
        pause = rng.choice((0, 3, 10, 10, 100, 2000))
        crashes, tidies = rng.random() < 0.05, rng.random() < 0.1
        handed_over = []
        for live in both:
            for signal, body in portion:
                live.receive(body, signal=signal)
            live.read()
            await live.advance(pause)
            if crashes:
                live.restart()
            handed_over.append([*live.due(), *([live.tracker.maintain()] if tidies else [])])

        assert repr(handed_over[0]) == repr(handed_over[1])
        for unit in handed_over[0]:
            if isinstance(unit, ReadyConversation) and not tidies:
                assert unit.conversation in both[0].tracker.find(unit.conversation.conversation_id)
    for live in both:
        live.close()


@pytest.mark.parametrize("seed", range(12 if THOROUGH else 2))
@pytest.mark.parametrize("case", CASES)
async def test_growing_conversations(tmp_path: Path, case: str, seed: int) -> None:
    rng = random.Random(seed)
    items = single_items([(Signal.TRACES, trace_body(CASES[case]()))])
    late = rng.sample(items, len(items) // 5)
    items = [item for item in items if item not in late] + late
    if rng.random() < 0.5:
        rng.shuffle(items)

    await hold_against(tmp_path, items, rng)


@pytest.mark.parametrize("capture", sampled("*", every=60))
async def test_captures_that_grow(tmp_path: Path, capture: Path) -> None:
    rng = random.Random(f"{capture.parent.name}/{capture.name}")
    chosen = [capture, rng.choice(captures("*"))]
    items = [item for path in chosen for item in single_items(read_jsonl(path / "otlp.jsonl"))]
    for _ in range(len(items) // 4):  # some are late
        items.append(items.pop(rng.randrange(len(items))))

    await hold_against(tmp_path, items, rng)


async def test_components_that_turn_out_to_be_one_are_looked_at_as_one(tmp_path: Path) -> None:
    live = LiveHarness(tmp_path)
    first, second, bridge = (AgentTelemetry(None, name=name) for name in ("one", "two", "bridge"))
    for agent, words in ((first, "green"), (second, "blue"), (first, "red")):
        live.send(*agent.turn(words))
        await live.advance(100)
        live.due()
    bridge.history = [*first.history]
    joining = bridge.turn("and then?")
    for agent in (first, second):  # one trace that says something of both
        joining += [span for span in agent.turn("more") if span.name.endswith("second")]
    for span in joining:
        span.trace_id = joining[0].trace_id

    live.send(*joining)
    await live.advance(2000)
    handed_over = [unit.conversation for unit in live.due() if isinstance(unit, ReadyConversation)]

    fresh = LiveHarness(tmp_path)
    assert handed_over
    for conversation in handed_over:
        assert fresh.tracker.find(conversation.conversation_id) == [conversation]
    fresh.close()
    live.close()
