"""From the live state to the judging pipeline: a ready turn or conversation becomes a unit, and is settled before it
counts as handed over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import assert_never

from collector.live.ready import Ready, ReadyConversation, ReadyReason, ReadyTurn, Withdrawn
from evaluators.pipeline.pipeline import JudgingPipeline
from evaluators.verdict import Unit, UnitKind


class HandOver:
    def __init__(
        self, pipeline: JudgingPipeline, *, on_turn: Callable[[ReadyTurn], Awaitable[None]] | None = None
    ) -> None:
        """`on_turn` is awaited for each turn once it is settled, before it counts as handed over."""
        self._pipeline = pipeline
        self._on_turn = on_turn

    async def __call__(self, ready: Ready) -> None:
        """Return once every evaluator has decided on the unit, or has it on disk in front of it."""
        if isinstance(ready, Withdrawn):
            await self._pipeline.withdraw(ready.key)
            return
        unit = to_unit(ready)
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def settle() -> None:
            if not settled.done():
                settled.set_result(None)

        await self._pipeline.submit(unit, on_settled=settle)
        await settled
        if self._on_turn is not None and isinstance(ready, ReadyTurn):
            await self._on_turn(ready)


def to_unit(ready: ReadyTurn | ReadyConversation) -> Unit:
    match ready:
        case ReadyTurn():
            return Unit(
                kind=UnitKind.TURN,
                conversation=ready.conversation,
                turn_index=ready.turn_index,
                revision=ready.revision,
            )
        case ReadyConversation():
            return Unit(
                kind=UnitKind.CONVERSATION,
                conversation=ready.conversation,
                turn_index=len(ready.conversation.turns) - 1,
                revision=ready.revision,
                ended=ready.reason is ReadyReason.END_MARKER,
            )
        case _:
            assert_never(ready)
