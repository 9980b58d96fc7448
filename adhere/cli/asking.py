"""How commands that measure a judge have it asked: the options for it, and who is asked."""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import typer

from adhere.cli.progress import progress
from adhere.cli.run_store import run_store
from adhere.config import Config
from adhere.errors import CommandError, IncompleteError, UsageError
from adhere.logs import command_logs
from adhere.run.judging import budget_settings, judge_settings, with_judge
from collector.clock import SystemClock
from evaluators.budget import BudgetConfig
from evaluators.errors import EvaluatorConfigError
from evaluators.judge.config import JudgeConfig
from evaluators.judge.judge import Judge
from evaluators.judge.pricing import check_budget
from evaluators.measuring.asking import Asked, Progress, Question, ask_batch, ask_live, batch_lines
from evaluators.store.ledger import StoredLedger

Q = TypeVar("Q", bound=Question)

JudgeUrl: TypeAlias = Annotated[
    str | None,
    typer.Option("--judge-url", help="OpenAI-compatible endpoint to ask, such as http://127.0.0.1:11434/v1."),
]
Model: TypeAlias = Annotated[str | None, typer.Option("--model", help="Model to ask; over the configuration's.")]
Keep: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Where answers are kept, to go on from; else bench-MODEL.jsonl here.", show_default=False),
]
Export: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Ask nobody; write what is to be asked here, as an OpenAI Batch input.", show_default=False),
]
AnswerFiles: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option("--answers", help="Ask nobody; score these OpenAI Batch outputs. Can be repeated."),
]
ReportFile: TypeAlias = Annotated[
    Path | None, typer.Option("--report", help="Write all figures here, as JSON.", show_default=False)
]
Output: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write every judgement here, as JSON lines.", show_default=False)
]

_NOBODY = "gpt-5-mini"
"""The model that requests name where none is given."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What the options say."""

    settings: JudgeConfig | None
    budget: BudgetConfig
    keep: Path | None
    export: Path | None
    answers: Sequence[Path]

    @property
    def scores(self) -> bool:
        """False where requests are only written."""
        return bool(self.answers) or self.export is None

    @property
    def asks(self) -> bool:
        """False where nobody is asked by us."""
        return not self.answers and self.export is None


def asking(
    config: Config,
    *,
    judge_url: str | None,
    model: str | None,
    keep: Path | None,
    export: Path | None,
    answers: Sequence[Path] | None,
) -> Asking:
    loaded = with_judge(config, judge_url=judge_url, model=model)
    settings, budget = judge_settings(loaded, environ=os.environ), budget_settings(loaded)
    how = Asking(settings, budget, keep, export, answers or [])
    if settings is not None and how.asks:
        try:
            check_budget(budget, [settings])
        except EvaluatorConfigError as err:
            raise UsageError(str(err)) from err
    return how


def ask(questions: Callable[[Judge], Sequence[Q]], how: Asking) -> Asked[Q]:
    """Raises UsageError and CommandError. What has no answer is written where `--export` says."""
    with command_logs(), ExitStack() as stack:

        def begin(total: int) -> Callable[[], None]:
            return stack.enter_context(progress("Judging", total=total)).advance

        try:
            asked = asyncio.run(_ask(questions, how, begin))
        except EvaluatorConfigError as err:
            raise UsageError(str(err)) from err
    if how.export is not None:
        write(how.export, batch_lines(asked.wanted))
    return asked


def tell(asked: Asked[Q], how: Asking) -> None:
    """What happened to answers and requests."""
    for note in asked.notes:
        typer.echo(note)
    if how.export is not None:
        typer.echo(f"{len(asked.wanted)} requests were written to {how.export}.")


def check_paid(asked: Asked[Q], *others: str) -> None:
    """Raises IncompleteError where a budget kept questions back, with `others` as more of its sentences."""
    if asked.unpaid:
        total = asked.unpaid + len(asked.answers)
        told = (
            f"{asked.unpaid} of {total} questions were not asked. {asked.why_unpaid} The answers so far are kept: the "
            "same command goes on from them, with the budget anew."
        )
        raise IncompleteError("\n".join([told, *others]))


def write(path: Path, body: bytes) -> None:
    """For its owner alone where it is new: what is written here holds people's words as a rule."""
    try:
        path.touch(mode=0o600)
        path.write_bytes(body)
    except OSError as err:
        raise CommandError(f"{path} cannot be written: {err.strerror}.") from err


async def _ask(questions: Callable[[Judge], Sequence[Q]], how: Asking, begin: Progress) -> Asked[Q]:
    clock, rng = SystemClock(), random.SystemRandom()
    settings = how.settings
    if not how.asks:
        return await ask_batch(
            questions,
            settings or JudgeConfig(model=_NOBODY),
            answer_files=how.answers,
            clock=clock,
            random=rng,
            progress=begin,
        )
    if settings is None:
        raise UsageError("No judge is named: give --judge-url and --model, or --export FILE to ask one elsewhere.")
    from evaluators.judge.connect import open_endpoint  # noqa: PLC0415 - the client is loaded where it is used

    with ExitStack() as stack:
        ledger = None
        if how.budget.limits:
            _, store = stack.enter_context(run_store(None, clock=clock))
            ledger = StoredLedger(store, clock=clock, budget=how.budget, keep_answers=False)
        return await ask_live(
            questions,
            settings,
            endpoint=open_endpoint(settings, clock=clock),
            keep=how.keep or Path(f"bench-{re.sub(r'[^A-Za-z0-9._-]+', '-', settings.model)}.jsonl"),
            clock=clock,
            random=rng,
            progress=begin,
            ledger=ledger,
        )
