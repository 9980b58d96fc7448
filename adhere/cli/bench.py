"""`adhere bench`: how good a judge is, on labelled conversations and against attacks."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from adhere.cli.options import ConfigOption, command_app
from adhere.cli.progress import progress
from adhere.cli.report_tables import print_report
from adhere.config import load_config
from adhere.errors import CommandError, UsageError
from adhere.logs import command_logs
from adhere.run.judging import judge_settings, with_judge
from collector.clock import SystemClock
from evaluators.errors import EvaluatorConfigError
from evaluators.judge.config import JudgeConfig
from evaluators.measuring.attacks.suite import attack_suite
from evaluators.measuring.bench import Bench, Measured, answer_line, batch_lines, measure_batch, measure_live
from evaluators.measuring.cases import Case, EvaluatorKind, case_of, read_cases, unique_cases
from evaluators.measuring.run import KINDS

app = command_app()


class On(StrEnum):
    CONVERSATION = "conversation"
    TURN = "turn"


class Kind(StrEnum):
    TASK = "task_adherence"
    ROLE = "role_adherence"
    COMPLETENESS = "conversation_completeness"


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
Kinds: TypeAlias = Annotated[
    list[Kind] | None, typer.Option("--evaluator", help="Only this evaluator. Can be repeated.")
]


@app.command()
def judging(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Labelled conversations, as JSON lines.", show_default=False)
    ],
    *,
    config: ConfigOption = None,
    judge_url: JudgeUrl = None,
    model: Model = None,
    on: Annotated[On, typer.Option(help="Judge whole conversations, or each turn.")] = On.CONVERSATION,
    evaluator: Kinds = None,
    keep: Keep = None,
    export: Export = None,
    answers: AnswerFiles = None,
    report: ReportFile = None,
    output: Output = None,
) -> None:
    """Measure a judge on labelled conversations: agreement, faults caught, false alarms, tokens, cost, latency.

    Answers are kept as they come: the same command goes on where it was stopped. With --export and --answers the
    judge is asked elsewhere, in as many rounds as it takes.
    """
    try:
        cases = _cases(files)
    except EvaluatorConfigError as err:
        raise UsageError(str(err)) from err
    kinds: Sequence[EvaluatorKind] = [kind.value for kind in evaluator] if evaluator else KINDS
    _bench(
        Bench(cases, on.value, kinds),
        settings=_settings(config, judge_url, model),
        keep=keep,
        export=export,
        answers=answers or [],
        report=report,
        output=output,
    )


@app.command()
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

    Asks, keeps answers, exports and scores as `adhere bench judging` does. Exit code 1 if any attack succeeded.
    """
    try:
        cases = _cases(files) if files else [case_of(case) for case in attack_suite()]
    except EvaluatorConfigError as err:
        raise UsageError(str(err)) from err
    figures = _bench(
        Bench([case for case in cases if case.attack is not None]),
        settings=_settings(config, judge_url, model),
        keep=keep,
        export=export,
        answers=answers or [],
        report=report,
        output=output,
    )
    succeeded = figures.get("attacks_that_succeeded")
    if succeeded:
        raise CommandError("Attacks on the judge succeeded; the table names them.")


def _cases(files: Sequence[Path]) -> Sequence[Case]:
    return unique_cases([case for file in files for case in read_cases(file)])


def _bench(
    bench: Bench,
    *,
    settings: JudgeConfig | None,
    keep: Path | None,
    export: Path | None,
    answers: Sequence[Path],
    report: Path | None,
    output: Path | None,
) -> Mapping[str, object]:
    """The figures; none where nothing was scored."""
    figures: Mapping[str, object] = {}
    with command_logs(), ExitStack() as stack:

        def begin(total: int) -> Callable[[], None]:
            return stack.enter_context(progress("Judging", total=total)).advance

        try:
            if export is not None or answers:
                measured = asyncio.run(
                    measure_batch(
                        bench,
                        settings or JudgeConfig(model="gpt-5-mini"),
                        answer_files=answers,
                        clock=SystemClock(),
                        random=random.SystemRandom(),
                        progress=begin,
                    )
                )
            else:
                measured = asyncio.run(_live(bench, settings, keep, begin))
        except EvaluatorConfigError as err:
            raise UsageError(str(err)) from err
    if export is not None:
        _write(export, batch_lines(measured.wanted))
    if answers or export is None:
        figures = _show(measured, report=report, output=output)
    for note in measured.notes:
        typer.echo(note)
    if export is not None:
        typer.echo(f"{len(measured.wanted)} requests were written to {export}.")
    return figures


async def _live(
    bench: Bench, settings: JudgeConfig | None, keep: Path | None, begin: Callable[[int], Callable[[], None]]
) -> Measured:
    if settings is None:
        raise UsageError("No judge is named: give --judge-url and --model, or --export FILE to ask one elsewhere.")
    from evaluators.judge.connect import open_endpoint  # noqa: PLC0415 - the client is loaded where it is used

    clock = SystemClock()
    return await measure_live(
        bench,
        settings,
        endpoint=open_endpoint(settings, clock=clock),
        keep=keep or Path(f"bench-{re.sub(r'[^A-Za-z0-9._-]+', '-', settings.model)}.jsonl"),
        clock=clock,
        random=random.SystemRandom(),
        progress=begin,
    )


def _settings(config: Path | None, judge_url: str | None, model: str | None) -> JudgeConfig | None:
    loaded = with_judge(load_config(config), judge_url=judge_url, model=model)
    return judge_settings(loaded, environ=os.environ)


def _show(measured: Measured, *, report: Path | None, output: Path | None) -> Mapping[str, object]:
    found = measured.report()
    if output is not None:
        _write(output, b"".join(map(answer_line, measured.answered)))
    if report is not None:
        _write(report, json.dumps(found.figures, indent=1).encode() + b"\n")
    print_report(found)
    return found.figures


def _write(path: Path, body: bytes) -> None:
    try:
        path.write_bytes(body)
    except OSError as err:
        raise CommandError(f"{path} cannot be written: {err.strerror}.") from err
