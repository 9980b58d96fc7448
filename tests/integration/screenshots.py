"""Pictures of where scores show up in Phoenix and MLflow: `python -m tests.integration.screenshots`.

Real servers, real scores from a scripted judge, and a headless Chromium, which must be installed. The pictures go to
`docs/backends` and are committed; nothing else makes them.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.integration.installed import from_pypi
from tests.integration.real_server import RunningServer, running_beside
from tests.integration.servers import MLFLOW, PHOENIX
from tests.support.agent_run import run_app
from tests.support.honest_judge import honest
from tests.support.judge_server import JudgeServer
from tests.support.running_adhere import running_adhere
from tests.support.until import until

OUT = Path(__file__).resolve().parents[2] / "docs" / "backends"
PLAYWRIGHT = ("playwright==1.56.0",)
RULES = {"rules": {"rules": [{"name": "member first", "before": "renew_loan", "require": "check_member"}]}}
EVALUATORS = [RULES, {"task_adherence": {"on": "turn"}}, {"role_adherence": {"on": "turn"}}]
CONVERSATIONS = 3
TAKE_PICTURE = Path(__file__).with_name("take_picture.py")


async def judged(folder: Path, phoenix: RunningServer, mlflow: RunningServer) -> list[dict[str, str]]:
    """Some conversations, with their scores in both."""
    relay = [
        {"name": "phoenix", "endpoint": phoenix.url, "protocol": "http/protobuf"},
        {
            "name": "mlflow",
            "endpoint": mlflow.url,
            "protocol": "http/protobuf",
            "headers": {"x-mlflow-experiment-id": "0"},
        },
    ]
    exporters = [{"phoenix": {"endpoint": phoenix.url}}, {"mlflow": {"tracking_uri": mlflow.url, "timeout_s": 60}}]
    with JudgeServer(honest) as judge:
        async with running_adhere(
            folder,
            relay=relay,
            judge={"base_url": judge.base_url, "model": "scripted-judge", "api_key": "test"},
            evaluators=EVALUATORS,
            exporters=[*exporters, "jsonl"],
        ) as (_, addresses):
            turns = []
            for number in range(CONVERSATIONS):
                turns += await run_app(f"http://{addresses.http}", protocol="http", conversation_id=f"visit-{number}")
            lines = folder / "data" / "verdicts.jsonl"
            wanted = len(turns) * len(EVALUATORS)
            await until(lambda: lines.exists() and lines.read_bytes().count(b"\n") >= wanted, timeout_s=120)
    return turns


def take(chromium: str, backend: str, address: str, turn: dict[str, str]) -> None:
    python = from_pypi("pictures", PLAYWRIGHT) / "python"
    arguments = (chromium, backend, address, turn["trace_id"], turn["span_id"], OUT / f"{backend}.png")
    subprocess.run([python, TAKE_PICTURE, *arguments], check=True, timeout=300)


async def main() -> None:
    chromium = shutil.which("chromium") or sys.exit("There is no chromium on this machine; install it first.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("phoenix", "mlflow", "adhere"):
            (folder / part).mkdir()
        async with (
            running_beside(PHOENIX, folder / "phoenix") as phoenix,
            running_beside(MLFLOW, folder / "mlflow") as mlflow,
        ):
            turns = await judged(folder / "adhere", phoenix, mlflow)
            for backend, server in (("phoenix", phoenix), ("mlflow", mlflow)):
                await asyncio.to_thread(take, chromium, backend, server.url, turns[0])


if __name__ == "__main__":
    asyncio.run(main())
