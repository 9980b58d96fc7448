"""What a running sidecar knows of a conversation, as a person asks for it; the same as offline reconstruction gives."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from adhere.config import load_config
from adhere.run.data_dir import Addresses, DataDir
from adhere.run.plan import configured_evaluator
from collector.clock import SystemClock
from collector.relay.destination import Destination
from collector.relay.replay import replay
from collector.relay.senders import open_sender
from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import Signal
from evaluators.evaluator import Evaluator
from evaluators.measuring.calibration import Calibration, Calibrations
from evaluators.measuring.statistics import Confusion
from tests.support.adhere_process import AdhereProcess
from tests.support.agent_telemetry import AgentTelemetry, trace_body
from tests.support.command_line import CommandLine, Finished
from tests.support.recordings import RECORDINGS, REFUND
from tests.support.running_adhere import write_config
from tests.support.until import until

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"
CAPTURES = 10
LONG_S = 150.0
RULE = {"name": "identity first", "before": "issue_refund", "require": "verify_identity"}
ESCAPES = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \u202eback"

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(600)]

Request = tuple[Signal, bytes]


@dataclass(frozen=True, slots=True)
class Sidecar:
    config: Path
    addresses: Addresses
    process: AdhereProcess

    async def send(self, requests: Iterable[Request], *, over_grpc: bool) -> None:
        endpoint = f"http://{self.addresses.grpc if over_grpc else self.addresses.http}"
        sender = open_sender(Destination(endpoint=endpoint, protocol="grpc" if over_grpc else "http/protobuf"))
        try:
            result = await replay(requests, sender, clock=SystemClock(), rng=random.Random(1))
        finally:
            await sender.close()
        assert (result.refused, result.stopped_by) == (0, None)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sidecar(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sidecar]:
    folder = tmp_path_factory.mktemp("explain")
    config = write_config(folder, evaluators=[{"rules": {"rules": [RULE]}}, "task_adherence"])
    async with AdhereProcess(config) as process:
        found = Sidecar(config, await process.ready(), process)
        for number, file in enumerate(RECORDINGS.values()):
            await found.send(read_jsonl(file), over_grpc=bool(number % 2))
        for name in ("visit-1a", "visit-1b"):
            spans = AgentTelemetry(conversation_id=name, name=name).turn(name)
            await found.send([(Signal.TRACES, trace_body(spans))], over_grpc=False)
        hostile = AgentTelemetry(conversation_id="hostile", name="hostile").turn(ESCAPES, answer=ESCAPES)
        await found.send([(Signal.TRACES, trace_body(hostile))], over_grpc=False)
        yield found
        assert await process.terminate() == 0


def offline(adhere: CommandLine, file: Path) -> Sequence[tuple[dict[str, Any], str]]:
    """Each conversation of a recording, as JSON and as text."""
    objects = json.loads(adhere("reconstruct", "-f", "jsonl", file).out)["conversations"]
    texts = adhere("reconstruct", file).out.rstrip("\n").split("\n\nconversation ")
    return list(zip(objects, [texts[0], *(f"conversation {text}" for text in texts[1:])], strict=True))


def a_trace_of(conversation: dict[str, Any]) -> str:
    return next(turn["trace_id"] for turn in conversation["turns"] if turn["trace_id"])


async def explained(adhere: CommandLine, sidecar: Sidecar, name: str, *, holding: str = "") -> Finished:
    """Once it holds the text; what came instead is for the test to show."""
    shown = adhere("explain", name, "--config", sidecar.config)

    def holds() -> bool:
        nonlocal shown
        if holding not in shown.out or shown.code:
            shown = adhere("explain", name, "--config", sidecar.config)
        return shown.code == 0 and holding in shown.out

    try:
        await until(holds, timeout_s=LONG_S, every_s=0.3)
    except TimeoutError:
        assert holding in shown.out, shown.err
    return shown


@pytest.mark.parametrize("scenario", RECORDINGS)
async def test_live_is_as_offline(adhere: CommandLine, sidecar: Sidecar, scenario: str) -> None:
    for conversation, text in offline(adhere, RECORDINGS[scenario]):
        shown = await explained(adhere, sidecar, a_trace_of(conversation), holding=text)

        assert shown.out.startswith(text)


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the folder of real captures beside the checkout")
async def test_real_captures_live_are_as_offline(adhere: CommandLine, sidecar: Sidecar) -> None:
    files = random.Random(7).sample(sorted(CORPUS.glob("*/*/otlp.jsonl")), CAPTURES)
    logs = [file for file in sorted(CORPUS.glob("*events*/*/otlp.jsonl")) if file not in files]
    chosen = [*files, *random.Random(7).sample(logs, 2)]
    for number, file in enumerate(chosen):
        await sidecar.send(read_jsonl(file), over_grpc=bool(number % 2))

    compared = 0
    for file in chosen:
        for conversation, text in offline(adhere, file):
            shown = await explained(adhere, sidecar, a_trace_of(conversation), holding=text)

            assert shown.out.startswith(text), file
            compared += 1
    assert compared >= CAPTURES


async def test_a_broken_rule_is_explained_with_its_evidence(adhere: CommandLine, sidecar: Sidecar) -> None:
    ((conversation, _),) = offline(adhere, REFUND)

    shown = await explained(adhere, sidecar, conversation["conversation_id"], holding="· rules · judged")

    assert "identity first" in shown.out
    assert '“issue_refund {"order_id": "B-2040", "amount": 24.9}”' in shown.out
    assert "task_adherence" in shown.out
    assert "not_assessable by none" in shown.out


async def test_the_beginning_of_an_id_will_do(adhere: CommandLine, sidecar: Sidecar) -> None:
    ((conversation, _),) = offline(adhere, REFUND)
    whole = conversation["conversation_id"]
    names = (whole, whole[:12], a_trace_of(conversation), a_trace_of(conversation)[:12])
    told: list[str] = []

    def alike() -> bool:  # Decisions may come in between two of them.
        told[:] = [adhere("explain", name, "-c", sidecar.config).out for name in names]
        return len(set(told)) == 1 and "fail" in told[0]

    await explained(adhere, sidecar, whole, holding="fail")
    await until(alike, timeout_s=LONG_S, every_s=0.3)


async def test_an_id_that_several_answer_to_is_told(adhere: CommandLine, sidecar: Sidecar) -> None:
    for name in ("visit-1a", "visit-1b"):
        await explained(adhere, sidecar, name, holding=f"conversation {name}")

    shown = adhere("explain", "visit-1", "-c", sidecar.config)

    assert shown.code == 1
    assert shown.err.startswith("Error: 2 conversations answer to 'visit-1' (")
    assert "visit-1a" in shown.err
    assert "visit-1b" in shown.err


async def test_an_unknown_id_is_told(adhere: CommandLine, sidecar: Sidecar) -> None:
    await explained(adhere, sidecar, "hostile")

    shown = adhere("explain", "nobody", "-c", sidecar.config)

    assert (shown.code, shown.out) == (1, "")
    assert shown.err.startswith("Error: No conversation or trace 'nobody' is known; ")


async def test_what_a_terminal_would_obey_is_not_printed(adhere: CommandLine, sidecar: Sidecar, tmp_path: Path) -> None:
    shown = await explained(adhere, sidecar, "hostile", holding="[31mred")

    assert not {"\x1b", "\x07", "\u202e"} & set(shown.out + shown.err)


async def test_a_folder_without_state_is_told(adhere: CommandLine, tmp_path: Path) -> None:
    shown = adhere("explain", "nobody", "-c", write_config(tmp_path))

    assert shown.code == 1
    assert shown.err.startswith(f"Error: There is no live state {tmp_path / 'data' / 'conversations.db'} yet;")
    assert not (tmp_path / "data").exists()


async def test_units_to_label_come_from_what_the_sidecar_knows(
    adhere: CommandLine, sidecar: Sidecar, tmp_path: Path
) -> None:
    labels = tmp_path / "labels.jsonl"
    await explained(adhere, sidecar, "visit-1a", holding="turn 0")

    shown = adhere("label", labels, "--write-only", "-n", 3, "--config", sidecar.config)

    rows = [json.loads(line) for line in labels.read_bytes().splitlines()]
    assert shown.code == 0, shown.err
    assert len({row["unit"]["conversation"]["conversation_id"] for row in rows}) == 3


async def test_what_was_measured_of_a_judge_stands_beside_its_verdicts(adhere: CommandLine, sidecar: Sidecar) -> None:
    shown = await explained(adhere, sidecar, "visit-1a", holding="rules · judged")
    rules = setup_of(sidecar)
    measured = Calibration("rules", rules.version, rules.rubric_version, "builtin", Confusion(9, 1, 0, 10), 1)
    assert "this judge is" not in shown.out

    Calibrations([measured]).write(DataDir(load_config(sidecar.config).data_dir).calibration)
    shown = adhere("explain", "visit-1a", "--config", sidecar.config)

    assert "this judge is measured on 20 labels: kappa 0.90, sensitivity 0.90, specificity 1.00" in shown.out


def setup_of(sidecar: Sidecar) -> Evaluator:
    return configured_evaluator(load_config(sidecar.config), "rules")
