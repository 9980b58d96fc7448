"""A process that asks a judge with a budget, to be killed: `python -m tests.support.paying_process FOLDER BASE_URL`.

Asks the same questions in each life. Writes a line for each answer, and in the end what the day has cost.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

from prometheus_client import CollectorRegistry

from collector.clock import SystemClock
from evaluators.budget import BudgetConfig
from evaluators.judge.config import JudgeConfig
from evaluators.judge.connect import connect
from evaluators.judge.metrics import JudgeMetrics
from tests.support.judge_question import QUESTION, read
from tests.support.ledgers import ledger_in

QUESTIONS = 20
CONCURRENCY = 4
MAX_OUTPUT_TOKENS = 500
BUDGET_TOKENS = 200_000


async def main(folder: Path, base_url: str) -> None:
    registry = CollectorRegistry()
    budget = BudgetConfig(tokens_per_day=BUDGET_TOKENS)
    config = JudgeConfig(
        model="scripted-judge",
        base_url=base_url,
        max_concurrency=CONCURRENCY,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        trust_env=False,
    )
    async with ledger_in(folder, SystemClock(), budget=budget, metrics=JudgeMetrics(registry)) as ledger:
        judge = connect(config, fence_secret=bytes(32), random=Random(1), ledger=ledger)

        async def ask(number: int) -> None:
            await judge.ask(replace(QUESTION, text=f"Question {number}?"), read=read)
            sys.stdout.write(f"answered {number}\n")
            sys.stdout.flush()

        await asyncio.gather(*(ask(number) for number in range(QUESTIONS)))
        await judge.shutdown()
        used = registry.get_sample_value("adhere_judge_budget_used", {"period": "day", "unit": "tokens"})
        sys.stdout.write(f"used {used:.0f}\n")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
