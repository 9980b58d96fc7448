"""Has a judge asked about many units: at once, with every answer kept, or in the two steps of a batch."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from collector.clock import Clock
from evaluators.errors import EvaluatorConfigError
from evaluators.evaluator import Evaluator, Judgement
from evaluators.judge.caller import Endpoint
from evaluators.judge.config import JudgeConfig
from evaluators.judge.errors import JudgeErrorType
from evaluators.judge.judge import Judge
from evaluators.judge.ledger import CallLedger
from evaluators.judge.prices import LIST_PRICES, price_of
from evaluators.judge.pricing import Pricing
from evaluators.measuring.answers import AnswerFile, Answers, read_answers, read_kept
from evaluators.measuring.budgeted import BudgetedEndpoint
from evaluators.measuring.endpoints import BatchEndpoint, KeepingEndpoint
from evaluators.transcript.fence import Fence
from evaluators.verdict import Unit

FENCE = Fence(b"adhere bench: the same in every run")
"""Requests must be the same in the run that exports them and the one that reads the answers. What is measured is told
apart by its whole content in the conversation's id, so that no text in it can hold its mark.
"""

Progress: TypeAlias = Callable[[int], Callable[[], None]]
"""Gets the number of questions, gives what is called after each."""

_MAX_AT_ONCE = 64
_UNPAID = frozenset({JudgeErrorType.BUDGET_EXHAUSTED, JudgeErrorType.OVER_BUDGET})
"""Says nothing of the judge: what has this outcome was not measured."""


class Question(Protocol):
    """A unit and who is to judge it, with whatever its owner keeps beside them."""

    @property
    def evaluator(self) -> Evaluator: ...

    @property
    def unit(self) -> Unit: ...


Q = TypeVar("Q", bound=Question)


@dataclass(frozen=True, slots=True)
class Asked(Generic[Q]):
    answers: Sequence[tuple[Q, Judgement]]
    """In the order of the questions."""
    calls: int
    """Answered ones."""
    durations_s: Sequence[float]
    """Of these, as far as they are known."""
    wanted: Sequence[Mapping[str, Any]] = ()
    """Requests that have no answer, as lines of a batch input."""
    notes: Sequence[str] = field(default_factory=list)
    unpaid: int = 0
    """Questions that a budget kept back; they are not among the answers."""
    why_unpaid: str = ""


async def ask_live(
    questions: Callable[[Judge], Sequence[Q]],
    config: JudgeConfig,
    *,
    endpoint: Endpoint,
    keep: Path,
    clock: Clock,
    random: Random,
    progress: Progress,
    ledger: CallLedger | None = None,
) -> Asked[Q]:
    """Owns `endpoint`. What `keep` holds is not asked again, and not booked in `ledger`, which keeps no answers. Once
    a budget is used up no other question is begun.
    """
    answers = read_kept(keep, model=config.model)
    log = AnswerFile(keep, model=config.model)
    if ledger is not None:
        pricing = Pricing(price_of(config.model, overrides=config.prices, list_prices=LIST_PRICES))
        endpoint = BudgetedEndpoint(endpoint, ledger, pricing)
    keeping = KeepingEndpoint(endpoint, answers, log, clock=clock)
    judge = Judge(config, endpoint=keeping, fence=FENCE, clock=clock, random=random)
    try:
        found = await _run(questions(judge), progress)
    finally:
        await judge.shutdown()
        log.close()
    notes = [f"{keeping.reused} answers came from {keep}."]
    return Asked(
        found.answers,
        keeping.calls,
        keeping.durations_s,
        notes=notes,
        unpaid=found.unpaid,
        why_unpaid=found.why_unpaid,
    )


async def ask_batch(
    questions: Callable[[Judge], Sequence[Q]],
    config: JudgeConfig,
    *,
    answer_files: Sequence[Path],
    clock: Clock,
    random: Random,
    progress: Progress,
) -> Asked[Q]:
    """Nobody is asked: answers come from the files, and what they lack is in `wanted`."""
    answers = read_answers(answer_files)
    endpoint = BatchEndpoint(config, answers)
    judge = Judge(config, endpoint=endpoint, fence=FENCE, clock=clock, random=random)
    found = await _run(questions(judge), progress)
    await judge.shutdown()
    notes = _notes(endpoint, answers, asked=config.model) if answer_files else []
    calls = len(endpoint.used) - endpoint.failed
    return Asked(found.answers, calls, endpoint.durations_s, endpoint.wanted, notes)


def batch_lines(wanted: Sequence[Mapping[str, Any]]) -> bytes:
    """Lone surrogates cannot be in UTF-8; escaped, they pass as they do on the wire."""
    return b"".join(json.dumps(request).encode() + b"\n" for request in wanted)


@dataclass(slots=True)
class _Run(Generic[Q]):
    answers: Sequence[tuple[Q, Judgement]] = ()
    unpaid: int = 0
    why_unpaid: str = ""
    is_used_up: bool = False

    def keep_back(self, judgement: Judgement) -> None:
        self.why_unpaid = self.why_unpaid or judgement.reason
        self.is_used_up |= judgement.error_type == JudgeErrorType.BUDGET_EXHAUSTED


async def _run(questions: Sequence[Q], progress: Progress) -> _Run[Q]:
    """Evaluators never raise for what a judge or a conversation may do; a defect of one ends it."""
    if not questions:
        raise EvaluatorConfigError("Nothing is there to be judged by the chosen evaluators.")
    room, done = asyncio.Semaphore(_MAX_AT_ONCE), progress(len(questions))
    run = _Run[Q]()

    async def ask(question: Q) -> tuple[Q, Judgement] | None:
        async with room:
            if run.is_used_up:
                return None
            judgement = await question.evaluator.evaluate(question.unit)
        if judgement.error_type in _UNPAID:
            run.keep_back(judgement)
            return None
        done()
        return question, judgement

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(question)) for question in questions]
    run.answers = [found for task in tasks if (found := task.result()) is not None]
    run.unpaid = len(questions) - len(run.answers)
    return run


def _notes(endpoint: BatchEndpoint, answers: Answers, *, asked: str) -> list[str]:
    summary = (
        f"{len(endpoint.used)} answers were used; {endpoint.missing} requests have none, {endpoint.failed} failed, "
        f"{endpoint.repairs_wanted} answers could not be used and want a repair."
    )
    notes = [summary]
    notes += [f"{number} failed with {reason}." for reason, number in answers.failures.items()]
    if answers.unreadable_lines:
        notes.append(f"{answers.unreadable_lines} lines are no answers and were left out.")
    notes += [
        f"{number} answers were given by the model {model!r}, and the figures are put down to {asked!r}."
        for model, number in endpoint.other_models.items()
    ]
    if endpoint.strangers:
        notes.append(
            f"{endpoint.strangers} answers belong to no request made now: other cases, or another version, wrote them."
        )
    return notes
