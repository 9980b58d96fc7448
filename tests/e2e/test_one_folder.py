"""Who may be where: the two roles side by side, a second Adhere, a port or a file that is taken."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from adhere.config import load_config
from adhere.errors import UsageError
from adhere.run.collector import run_collector
from adhere.run.evaluator import run_evaluator
from adhere.run.lifetime import Lifetime
from tests.support.adhere_process import AdhereProcess
from tests.support.command_line import run_adhere
from tests.support.running_adhere import write_config
from tests.support.traffic import Oracle, Producer
from tests.support.until import until
from tests.support.verdict_lines import verdict_lines

pytestmark = pytest.mark.timeout(600)

LONG_S = 150.0


async def judged_conversation(adhere: AdhereProcess, name: str) -> str:
    locate = adhere.data.read_addresses
    async with Producer(name, transport="grpc", oracle=Oracle(), locate=locate, seed=1) as producer:
        return str(await producer.send_one(with_conversation=True))


def judged(folder: Path) -> list[str]:
    return [line["conversation_id"] for line in verdict_lines(folder / "data" / "verdicts.jsonl")]


async def test_the_roles_work_together_in_either_order_and_keep_others_out(tmp_path: Path) -> None:
    path = write_config(tmp_path, evaluators=["rules"])
    config = load_config(path)
    async with AdhereProcess(path, role="evaluator", as_command=True) as evaluator:
        await until(lambda: evaluator.data.read_evaluator_port() is not None, timeout_s=LONG_S)
        async with AdhereProcess(path, role="collector", as_command=True) as collector:
            await collector.ready()
            first = await judged_conversation(collector, "first")
            await until(lambda: first in judged(tmp_path), timeout_s=LONG_S)

            with pytest.raises(UsageError, match=rf"process {collector.pid}\) has its collector on the data folder"):
                await run_collector(config, Lifetime())
            with pytest.raises(UsageError, match=rf"process {evaluator.pid}\) has its evaluator on the data folder"):
                await run_evaluator(config, Lifetime())
            refused = await run_adhere("run", "--config", path)

            assert (refused.code, refused.out) == (2, "")
            assert refused.err.startswith(f"Error: Another Adhere (process {collector.pid}) has its collector on")
            assert len(refused.err.splitlines()) == 1
            again = await judged_conversation(collector, "again")
            await until(lambda: again in judged(tmp_path), timeout_s=LONG_S)
            assert await evaluator.terminate() == 0

            late = await judged_conversation(collector, "late")
            async with AdhereProcess(path, role="evaluator") as anew:
                await until(lambda: late in judged(tmp_path), timeout_s=LONG_S)
                assert await anew.terminate() == 0
            assert await collector.terminate() == 0

    assert sorted(judged(tmp_path)) == sorted([first, again, late])
    explained = await run_adhere("explain", late, "--config", path)  # nothing runs any more
    assert explained.code == 0, explained.err
    assert f"conversation {late} " in explained.out
    assert "· rules · judged" in explained.out


async def test_a_taken_port_is_one_sentence_and_the_end(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        ended = await run_adhere("run", "--config", config_with(tmp_path, taken="grpc", port=port))

    assert ended.code == 2
    reason = "cannot be opened: Address already in use; is another Adhere running here?"
    assert [line for line in ended.err.splitlines() if not line.startswith("{")] == [
        f"Error: The receiver 127.0.0.1:{port} {reason}"
    ]


@pytest.mark.parametrize("taken", ["http", "telemetry"])
async def test_every_port_that_is_taken_is_named(tmp_path: Path, taken: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        with pytest.raises(UsageError, match=f"127.0.0.1:{port} cannot be opened"):
            await run_collector(load_config(config_with(tmp_path, taken=taken, port=port)), Lifetime())


async def test_an_address_that_is_not_ours_is_named(tmp_path: Path) -> None:
    path = write_config(tmp_path, receivers={"grpc": {"endpoint": "127.0.0.1:0"}, "http": {"endpoint": "192.0.2.1:0"}})

    with pytest.raises(UsageError, match=r"192\.0\.2\.1:0 cannot be opened: Cannot assign requested address; choose"):
        await run_collector(load_config(path), Lifetime())


def config_with(folder: Path, *, taken: str, port: int) -> Path:
    at = {name: {"endpoint": f"127.0.0.1:{port if name == taken else 0}"} for name in ("grpc", "http", "telemetry")}
    telemetry = {**at["telemetry"], "logs": {"level": "warning"}}
    return write_config(folder, receivers={"grpc": at["grpc"], "http": at["http"]}, telemetry=telemetry)
