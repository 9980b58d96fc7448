"""Who may be where: the two roles side by side, a second Adhere, a port or a file that is taken."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.support.adhere_process import AdhereProcess, Role
from tests.support.command_line import run_adhere
from tests.support.running_adhere import write_config
from tests.support.traffic import Oracle, Producer
from tests.support.until import until
from tests.support.verdict_lines import verdict_lines

pytestmark = pytest.mark.timeout(600)

LONG_S = 150.0


async def judged_conversation(adhere: AdhereProcess, name: str) -> str | None:
    producer = Producer(name, transport="grpc", oracle=Oracle(), locate=adhere.data.read_addresses, seed=1)
    return await producer.send_one(with_conversation=True)


def judged(folder: Path) -> list[str]:
    return [line["conversation_id"] for line in verdict_lines(folder / "data" / "verdicts.jsonl")]


async def test_the_roles_work_together_in_either_order_and_keep_others_out(tmp_path: Path) -> None:
    config = write_config(tmp_path, evaluators=["rules"])
    async with AdhereProcess(config, role="collector") as collector:
        async with AdhereProcess(config, role="evaluator") as evaluator:  # most likely up first, and no journal yet
            await collector.ready()
            first = await judged_conversation(collector, "first")
            await until(lambda: first in judged(tmp_path), timeout_s=LONG_S)

            for role in ("all", "collector", "evaluator"):
                refused = await run_adhere("run", "--config", config, "--role", role)

                assert refused.code == 2
                assert refused.out == ""
                assert refused.err.startswith("Error: Another Adhere (process ")
                assert len(refused.err.splitlines()) == 1
                assert str(tmp_path / "data") in refused.err

            again = await judged_conversation(collector, "again")
            await until(lambda: again in judged(tmp_path), timeout_s=LONG_S)
            assert await evaluator.terminate() == 0
        late = await judged_conversation(collector, "late")

        async with AdhereProcess(config, role="evaluator") as evaluator:
            await until(lambda: late in judged(tmp_path), timeout_s=LONG_S)
            assert await evaluator.terminate() == 0
        assert await collector.terminate() == 0

    assert sorted(judged(tmp_path)) == sorted(filter(None, [first, again, late]))
    explained = await run_adhere("explain", late, "--config", config)  # nothing runs any more
    assert explained.code == 0, explained.err
    assert f"conversation {late} " in explained.out
    assert "· rules · judged" in explained.out


async def test_the_evaluator_may_come_first(tmp_path: Path) -> None:
    config = write_config(tmp_path, evaluators=["rules"])
    async with AdhereProcess(config, role="evaluator") as evaluator:
        await until(lambda: evaluator.data.read_evaluator_port() is not None, timeout_s=LONG_S)
        async with AdhereProcess(config, role="collector") as collector:
            await collector.ready()

            sent = await judged_conversation(collector, "sent")

            await until(lambda: sent in judged(tmp_path), timeout_s=LONG_S)


@pytest.mark.parametrize(
    ("taken", "role"), [("http", "all"), ("grpc", "collector"), ("telemetry", "collector")], ids=str
)
async def test_a_taken_port_is_one_sentence(tmp_path: Path, taken: str, role: Role) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        endpoint = {"endpoint": f"127.0.0.1:{other.getsockname()[1]}"}
        free = {"endpoint": "127.0.0.1:0"}
        config = write_config(
            tmp_path,
            receivers={name: endpoint if taken == name else free for name in ("grpc", "http")},
            telemetry={**(endpoint if taken == "telemetry" else free), "logs": {"level": "warning"}},
        )

        ended = await run_adhere("run", "--config", config, "--role", role)

    errors = [line for line in ended.err.splitlines() if line.startswith("Error: ")]
    assert ended.code == 2
    assert len(errors) == 1
    assert endpoint["endpoint"] in errors[0]
    assert "Traceback" not in ended.err
