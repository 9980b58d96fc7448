"""For APIs that take one score a call: several calls at a time, each verdict with its own outcome.

A failure that says nothing about one verdict (an outage, refused credentials) ends the batch: what was not begun is not
tried, and counts as failed in the same way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from collector.errors import PermanentError, RetryableError, UnauthenticatedError
from evaluators.verdict import Verdict
from exporters.errors import PartialExportError, TargetUnknownError


async def one_by_one(
    verdicts: Sequence[Verdict], send: Callable[[Verdict], Awaitable[None]], *, at_once: int = 8
) -> None:
    """Raises PartialExportError if something failed, and the failure itself if nothing was delivered before it."""
    failures: dict[str, RetryableError | PermanentError] = {}
    outages: list[RetryableError | PermanentError] = []
    waiting = iter(verdicts)

    async def work() -> None:
        for verdict in waiting:
            if outages:
                failures[verdict.id] = outages[0]
                continue
            try:
                await send(verdict)
            except (RetryableError, PermanentError) as err:
                failures[verdict.id] = err
                if _is_outage(err):
                    outages.append(err)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(at_once, len(verdicts))):
            group.create_task(work())
    if outages and len(failures) == len(verdicts):
        raise outages[0]
    if failures:
        raise PartialExportError(f"{len(failures)} of {len(verdicts)} scores were not taken.", failures=failures)


def _is_outage(err: RetryableError | PermanentError) -> bool:
    return isinstance(err, UnauthenticatedError) or (
        isinstance(err, RetryableError) and not isinstance(err, TargetUnknownError)
    )
