"""`adhere evaluate`: judge the conversations in files, of telemetry or of any accepted form."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.aggregate import write_summary
from adhere.cli.batch_judge import AT_ONCE, batch_judge
from adhere.cli.concluding import conclude
from adhere.cli.files import check_files
from adhere.cli.options import ConfigOption, command_app
from adhere.cli.progress import progress
from adhere.cli.results_file import Result, ResultsFile
from adhere.cli.results_table import print_results, print_steps, print_unread
from adhere.cli.rows import Row, read_rows
from adhere.config import Config, load_config
from adhere.errors import ConfigError, UsageError
from adhere.run.data_dir import DataDir
from adhere.run.judging import with_judge
from adhere.run.plan import declared_spans, known_calibrations
from collector.clock import SystemClock
from collector.dialects.declared import DeclaredSpan
from evaluators.agent_rubric.shelf import RubricShelf
from evaluators.errors import EvaluatorConfigError, InputFormError
from evaluators.formats import ColumnMap
from evaluators.measuring.calibration import lines_about
from evaluators.offline import evaluate_all, jobs_of
from evaluators.pipeline.setup import make_setups
from evaluators.registry import EvaluatorRegistry

app = command_app()


class Form(StrEnum):
    PAIRS = "pairs"
    DIALOGUE = "dialogue"
    QUERY_RESPONSE = "query_response"
    CHAT = "chat"
    OTLP = "otlp"


class View(StrEnum):
    AZURE = "azure"
    DEEPEVAL = "deepeval"
    GALTEA = "galtea"
    HUAWEI = "huawei"


@app.command()
def evaluate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="OTLP JSON lines, or conversations in any accepted form, one JSON value a line; - is standard input.",
            show_default=False,
        ),
    ],
    *,
    config: ConfigOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write every result here, as JSON lines.", show_default=False)
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(help="Write the numbers of the table here, as JSON.", show_default=False)
    ] = None,
    form: Annotated[
        Form | None, typer.Option("--format", "-f", help="The form of every row; by default each says it itself.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--map", help="NAME=COLUMN: take NAME, such as query, from a column. Repeatable."),
    ] = None,
    view: Annotated[View | None, typer.Option("--view", help="Write results in the fields of another tool.")] = None,
    echo: Annotated[bool, typer.Option("--echo", help="Write the judged conversation beside each result.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print how each verdict came about, step by step.")
    ] = False,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help=f"Questions asked at one time; else the configuration's, else {AT_ONCE}."),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="A folder that keeps the judge's answers: the same again asks nobody.", show_default=False),
    ] = None,
    judge_url: Annotated[
        str | None,
        typer.Option("--judge-url", help="OpenAI-compatible endpoint to ask, such as http://127.0.0.1:11434/v1."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="Model to ask; over the configuration's.")] = None,
    fail_under: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Least share of each evaluator's scored verdicts that must pass, 0 to 1."),
    ] = None,
    allow_errors: Annotated[
        bool, typer.Option("--allow-errors", help="Exit code 0 although rows or answers are missing.")
    ] = False,
) -> None:
    """Judge the conversations in files with the evaluators of the configuration; nothing needs to run.

    Prints every failure with its evidence and a table of all outcomes. Without a judge the rules and checks run.

    Exit code 0: every row was read and no verdict is an error, whether it passes or fails. 1: fewer pass than
    --fail-under wants. 2: options, configuration or files are wrong. 3: rows or answers are missing, or nothing was
    judged; what there is was printed and written.
    """
    check_files(files)
    _check_spared(files, output, summary)
    loaded = with_judge(load_config(config), judge_url=judge_url, model=model)
    rows = _read(files, form=form.value if form else None, columns=columns or [], declared=declared_spans(loaded))
    unread = [row for row in rows if row.error is not None]
    write = partial(ResultsFile, output, view=view.value if view else None, echo=echo)
    results = asyncio.run(_evaluate(loaded, rows, write=write, unread=unread, concurrency=concurrency, cache=cache))
    if verbose:
        print_steps((result.verdict, result.conversation) for result in results)
    verdicts = [result.verdict for result in results]
    conversations = sum(len(row.conversations) for row in rows)
    print_results(verdicts, conversations=conversations)
    for line in lines_about(verdicts, known_calibrations(loaded)):
        typer.echo(line)
    print_unread(unread)
    if summary is not None:
        write_summary(verdicts, summary, conversations=conversations, unread=len(unread))
    conclude(verdicts, rows=len(rows), unread=len(unread), allow_errors=allow_errors, fail_under=fail_under)


def _check_spared(files: Sequence[Path], *written: Path | None) -> None:
    """A data set is not written over by its own results."""
    for path in filter(None, written):
        if path.is_file() and any(file.exists() and file.samefile(path) for file in files):
            raise UsageError(f"{path} is both read and written; name another file for the results.")


def _read(
    files: Sequence[Path], *, form: str | None, columns: Sequence[str], declared: Sequence[DeclaredSpan]
) -> list[Row]:
    try:
        mapping = ColumnMap.parse(columns)
    except InputFormError as err:
        raise UsageError(str(err)) from err
    rows: list[Row] = []
    with progress("Reading", total=len(files)) as steps:
        for file in files:
            rows += read_rows(file, form=form, columns=mapping, declared=declared)
            steps.advance()
    if rows and all(row.error is not None for row in rows):
        first = rows[0]
        raise UsageError(f"No row of {first.file} can be read. Row {first.number}: {first.error}")
    return rows


async def _evaluate(
    config: Config,
    rows: Sequence[Row],
    *,
    write: Callable[[], ResultsFile],
    unread: Sequence[Row],
    concurrency: int | None,
    cache: Path | None,
) -> list[Result]:
    clock = SystemClock()
    results: list[Result] = []
    async with batch_judge(config, concurrency=concurrency, cache=cache, clock=clock) as asked:
        try:
            setups = make_setups(
                [(entry.name, entry.options) for entry in config.evaluators],
                registry=EvaluatorRegistry(),
                judge=asked.judge,
                rubrics=RubricShelf(DataDir(config.data_dir).rubrics),
            )
        except EvaluatorConfigError as err:
            raise ConfigError(str(err).splitlines()) from err
        jobs = [(row, whole, job) for row in rows for whole in row.conversations for job in jobs_of([whole], setups)]
        with closing(write()) as file, progress("Judging", total=len(jobs)) as steps:
            verdicts = evaluate_all([job for _, _, job in jobs], clock=clock, max_concurrency=asked.at_once)
            origins = iter(jobs)
            async for verdict in verdicts:
                row, whole, _ = next(origins)
                results.append(Result(row, whole, verdict))
                file.add(results[-1])
                steps.advance()
            file.add_unread(unread)
    return results
