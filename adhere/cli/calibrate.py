"""`adhere calibrate`: how far the judge agrees with people's labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.asking import (
    AnswerFiles,
    Export,
    JudgeUrl,
    Keep,
    Model,
    ReportFile,
    ask,
    asking,
    check_paid,
    tell,
    write,
)
from adhere.cli.options import ConfigOption, command_app
from adhere.cli.report_tables import print_report
from adhere.config import Config, load_config
from adhere.errors import UsageError
from adhere.run.data_dir import DataDir
from adhere.run.plan import configured_evaluator
from collector.clock import SystemClock
from evaluators.errors import EvaluatorConfigError
from evaluators.judge.judge import Judge
from evaluators.measuring import calibrating
from evaluators.measuring.calibrating import FEWEST_LABELS, Labelled, LabelQuestion, add_calibration, usable
from evaluators.measuring.calibration import stored_calibrations
from evaluators.measuring.labels import LabelledUnit, read_labels
from evaluators.measuring.report import Report

app = command_app()


@app.command()
def calibrate(
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help="A file of `adhere label`.", show_default=False)],
    *,
    config: ConfigOption = None,
    judge_url: JudgeUrl = None,
    model: Model = None,
    keep: Keep = None,
    export: Export = None,
    answers: AnswerFiles = None,
    report: ReportFile = None,
    store: Annotated[
        bool, typer.Option("--store/--no-store", help="Keep the result in the data folder, for later reports.")
    ] = True,
) -> None:
    """Measure the judge on labelled units: kappa, sensitivity, specificity, confusion, best threshold, languages.

    The evaluator is asked as it is configured. The result is kept under evaluator, rubric version and judge model, and
    is shown beside their verdicts from then on.

    The budget of the configuration holds for the run. Exit code 3 where it kept labels back: what was answered is
    shown, and no result is kept.
    """
    loaded = load_config(config)
    try:
        found = usable(read_labels(labels))
    except EvaluatorConfigError as err:
        raise UsageError(str(err)) from err
    how = asking(loaded, judge_url=judge_url, model=model, keep=keep, export=export, answers=answers)
    asked = ask(lambda judge: _questions(loaded, found, judge), how)
    if how.scores and asked.answers:
        pairs = [Labelled(question.label, judgement) for question, judgement in asked.answers]
        shown = Report()
        add_calibration(shown, pairs)
        if report is not None:
            write(report, json.dumps(shown.figures, indent=1).encode() + b"\n")
        print_report(shown)
        if store and not asked.unpaid:
            _store(loaded, pairs, asked.answers[0][0])
        if len(pairs) < FEWEST_LABELS:
            typer.echo(f"{len(pairs)} labels are few: the intervals above are what is known. Label at least 50.")
    tell(asked, how)
    check_paid(asked)


def _questions(config: Config, labels: Sequence[LabelledUnit], judge: Judge) -> Sequence[LabelQuestion]:
    evaluator = configured_evaluator(config, labels[0].evaluator, judge=judge)
    return [LabelQuestion(one, evaluator) for one in labels]


def _store(config: Config, pairs: Sequence[Labelled], question: LabelQuestion) -> None:
    one = calibrating.calibrate(pairs, question.evaluator, now_ns=SystemClock().now_ns())
    if not one.confusion.answered:
        typer.echo("Nothing was answered, and nothing is kept.")
        return
    data = DataDir(config.data_dir)
    data.create()
    try:
        stored_calibrations(data.calibration).with_one(one).write(data.calibration)
    except EvaluatorConfigError as err:
        raise UsageError(str(err)) from err
    typer.echo(f"Kept in {data.calibration} for {one.evaluator} with rubric {one.rubric_version} by {one.judge}.")
