"""The judge of a batch: asked more at a time than a sidecar's, with its answers kept in a folder if wanted."""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from adhere.cli.run_store import run_store
from adhere.config import Config
from adhere.run.judging import budget_settings, judge_settings, open_ledger
from collector.clock import Clock
from evaluators.judge.judge import Judge

AT_ONCE = 32
"""Nobody's live traffic waits for a batch."""


@dataclass(frozen=True, slots=True)
class BatchJudge:
    judge: Judge | None
    at_once: int


@asynccontextmanager
async def batch_judge(
    config: Config, *, concurrency: int | None, cache: Path | None, clock: Clock
) -> AsyncIterator[BatchJudge]:
    """`cache`: a folder in which answers are kept, so that the same questions are asked of nobody in the next run.
    A budget is kept there as well; without a folder it holds for this run alone.
    """
    settings = judge_settings(config, environ=os.environ)
    if settings is None:
        yield BatchJudge(None, AT_ONCE)
        return
    from evaluators.judge.connect import connect  # noqa: PLC0415 - loads an HTTP client, which takes a moment

    is_set = config.judge is not None and "max_concurrency" in config.judge.model_fields_set
    if concurrency is not None or not is_set:
        settings = replace(settings, max_concurrency=concurrency or AT_ONCE)
    async with AsyncExitStack() as stack:
        ledger, secret = None, None
        if cache is not None or budget_settings(config).limits:
            data, store = stack.enter_context(run_store(cache, clock=clock))
            ledger, secret = await open_ledger(config, store, clock=clock), data.fence_secret()
        judge = connect(settings, fence_secret=secret, clock=clock, random=random.SystemRandom(), ledger=ledger)
        stack.push_async_callback(judge.shutdown)
        yield BatchJudge(judge, max(AT_ONCE, settings.max_concurrency))
