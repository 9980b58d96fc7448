"""Judging without a running Adhere: conversations in, verdicts out; the same evaluators, ids and outcomes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import replace

from collector.clock import Clock
from collector.model import Conversation
from evaluators.content import content_digest
from evaluators.evaluator import Judgement
from evaluators.pipeline.binding import bind, storable, verdict_id
from evaluators.pipeline.selection import skip
from evaluators.pipeline.setup import EvaluatorSetup
from evaluators.verdict import Outcome, Unit, UnitKind, Verdict


def units_of(conversation: Conversation, kind: UnitKind) -> Iterator[Unit]:
    """Each turn with the conversation up to it, or the conversation as a whole."""
    if kind is UnitKind.CONVERSATION:
        yield Unit(kind=kind, conversation=conversation, turn_index=len(conversation.turns) - 1)
        return
    for index in range(len(conversation.turns)):
        until = replace(conversation, turns=conversation.turns[: index + 1])
        yield Unit(kind=kind, conversation=until, turn_index=index)


def jobs_of(
    conversations: Iterable[Conversation], setups: Sequence[EvaluatorSetup]
) -> list[tuple[Unit, EvaluatorSetup]]:
    """Every unit with each evaluator that is asked about it; filters and samples are honoured."""
    return [
        (unit, setup)
        for conversation in conversations
        if conversation.turns
        for setup in setups
        for unit in units_of(conversation, setup.evaluator.unit_kind)
        if skip(setup, unit) is None
    ]


async def evaluate_all(
    jobs: Sequence[tuple[Unit, EvaluatorSetup]], *, clock: Clock, max_concurrency: int = 32
) -> AsyncIterator[Verdict]:
    """Verdicts in the order of the jobs. An evaluator that raises gives an `error` verdict and ends nothing else."""
    running: list[asyncio.Task[Verdict]] = []
    try:
        waiting = iter(jobs)
        for unit, setup in waiting:
            running.append(asyncio.create_task(evaluate_unit(unit, setup, clock=clock)))
            if len(running) >= max_concurrency:
                yield await running.pop(0)
        while running:
            yield await running.pop(0)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def evaluate_unit(unit: Unit, setup: EvaluatorSetup, *, clock: Clock) -> Verdict:
    """An evaluator that raises gives an `error` verdict."""
    unit = storable(unit)
    evaluator = setup.evaluator
    try:
        judgement = await evaluator.evaluate(unit)
    except Exception as err:  # noqa: BLE001 - a supervision point: one judgement
        name = type(err).__name__
        judgement = Judgement(Outcome.ERROR, reason=f"The evaluator failed ({name}).", error_type=name)
    return bind(
        judgement,
        unit=unit,
        evaluator=evaluator,
        verdict_id=verdict_id(unit.key, content_digest(unit), evaluator),
        judged_ns=clock.now_ns(),
    )
