"""Real captures through the live state: what offline reconstruction gives, in any order and any split."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from collector.assembly.reconstruct import reconstruct
from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import Signal
from tests.collector.live.test_orders import last_words
from tests.support.live_state import LiveHarness
from tests.support.recut import single_items

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the folder of real captures beside the checkout"),
]


def captures() -> list[Path]:
    return sorted(CORPUS.glob("*/*/otlp.jsonl"))


def sample(count: int, *, seed: int) -> list[Path]:
    every = captures()
    return random.Random(seed).sample(every, min(count, len(every)))


@pytest.mark.parametrize("path", sample(24, seed=5), ids=lambda path: f"{path.parents[1].name}-{path.parent.name}")
async def test_a_capture_in_any_order_gives_what_reconstruction_gives(tmp_path: Path, path: Path):
    rng = random.Random(path.as_posix().rpartition("/corpus/")[2])
    requests = [request for request in read_jsonl(path) if request[0] is not Signal.METRICS]
    expected = reconstruct(requests)
    items = single_items(requests)
    items += rng.sample(items, len(items) // 4)
    rng.shuffle(items)
    live = LiveHarness(tmp_path)

    for signal, body in items:
        live.receive(body, signal=signal)
        if rng.random() < 0.2:
            live.read()
            live.due()
        if rng.random() < 0.1:
            await live.advance(10)
    live.read()
    found = await last_words(live)

    assert found == expected
    live.close()


async def test_captures_of_two_services_at_once_are_kept_apart(tmp_path: Path):
    paths = sample(6, seed=8)
    requests = [[request for request in read_jsonl(path) if request[0] is not Signal.METRICS] for path in paths]
    expected = reconstruct([request for capture in requests for request in capture])
    items = [item for capture in requests for item in single_items(capture)]
    random.Random(1).shuffle(items)
    live = LiveHarness(tmp_path)

    for signal, body in items:
        live.receive(body, signal=signal)
    live.read()
    found = await last_words(live)

    assert found == expected
    live.close()
