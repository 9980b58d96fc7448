"""`adhere bench`: how good a judge is, on labelled conversations and against attacks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.asking import (
    AnswerFiles,
    Asking,
    Export,
    JudgeUrl,
    Keep,
    Model,
    Output,
    ReportFile,
    ask,
    asking,
    check_paid,
    tell,
    write,
)
from adhere.cli.options import ConfigOption, command_app
from adhere.cli.report_tables import print_report
from adhere.config import load_config
from adhere.errors import CommandError, UsageError
from evaluators.errors import EvaluatorConfigError
from evaluators.measuring.asking import Asked
from evaluators.measuring.attacks.suite import attack_suite
from evaluators.measuring.bench import Bench, answer_line, report_of
from evaluators.measuring.cases import Case, EvaluatorKind, case_of, read_cases, unique_cases
from evaluators.measuring.run import KINDS, Job, answered

app = command_app("Measure a judge on labelled conversations, or against attacks.")


class On(StrEnum):
    CONVERSATION = "conversation"
    TURN = "turn"


class Kind(StrEnum):
    TASK = "task_adherence"
    ROLE = "role_adherence"
    COMPLETENESS = "conversation_completeness"


@app.command(short_help="Measure a judge on labelled conversations.")
def judging(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Labelled conversations, as JSON lines.", show_default=False)
    ],
    *,
    config: ConfigOption = None,
    judge_url: JudgeUrl = None,
    model: Model = None,
    on: Annotated[On, typer.Option(help="Judge whole conversations, or each turn.")] = On.CONVERSATION,
    evaluator: Annotated[
        list[Kind] | None, typer.Option("--evaluator", help="Only this evaluator. Can be repeated.")
    ] = None,
    keep: Keep = None,
    export: Export = None,
    answers: AnswerFiles = None,
    report: ReportFile = None,
    output: Output = None,
) -> None:
    """Measure a judge on labelled conversations: agreement, faults caught, false alarms, tokens, cost, latency.

    Answers are kept as they come: the same command goes on where it was stopped. With --export and --answers the
    judge is asked elsewhere, in as many rounds as it takes.

    The budget of the configuration holds for the run. Exit code 3 where it kept questions back: what was answered is
    shown and kept.
    """
    kinds: Sequence[EvaluatorKind] = [kind.value for kind in evaluator] if evaluator else KINDS
    how = asking(load_config(config), judge_url=judge_url, model=model, keep=keep, export=export, answers=answers)
    asked, _ = _bench(Bench(_cases(files), on.value, kinds), how, report=report, output=output)
    check_paid(asked)


@app.command(short_help="Measure a judge against attacks.")
def attacks(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE...]", help="Attack cases; without them, the built-in suite.", show_default=False),
    ] = None,
    *,
    config: ConfigOption = None,
    judge_url: JudgeUrl = None,
    model: Model = None,
    keep: Keep = None,
    export: Export = None,
    answers: AnswerFiles = None,
    report: ReportFile = None,
    output: Output = None,
) -> None:
    """Measure whether text in a conversation can turn a judge's verdict, by technique, place and language.

    Asks, keeps answers, exports and scores as `adhere bench judging` does. Exit code 1 if any attack succeeded, 3 if
    the budget kept attacks back.
    """
    cases = _cases(files) if files else [case_of(case) for case in attack_suite()]
    how = asking(load_config(config), judge_url=judge_url, model=model, keep=keep, export=export, answers=answers)
    bench = Bench([case for case in cases if case.attack is not None])
    asked, figures = _bench(bench, how, report=report, output=output)
    found = ["Attacks on the judge succeeded; the table names them."] if figures.get("attacks_that_succeeded") else []
    check_paid(asked, *found)
    if found:
        raise CommandError(found[0])


def _cases(files: Sequence[Path]) -> Sequence[Case]:
    try:
        return unique_cases([case for file in files for case in read_cases(file)])
    except EvaluatorConfigError as err:
        raise UsageError(str(err)) from err


def _bench(
    bench: Bench, how: Asking, *, report: Path | None, output: Path | None
) -> tuple[Asked[Job], Mapping[str, object]]:
    """With the figures; none where nothing was scored."""
    asked = ask(bench.questions, how)
    figures: Mapping[str, object] = {}
    if how.scores and asked.answers:
        found = report_of(asked)
        figures = found.figures
        if output is not None:
            write(output, b"".join(map(answer_line, answered(asked.answers))))
        if report is not None:
            write(report, json.dumps(figures, indent=1).encode() + b"\n")
        print_report(found)
    tell(asked, how)
    return asked, figures
