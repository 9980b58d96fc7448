"""`adhere label`: people say what is right, so that a judge can be measured."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.files import check_files
from adhere.cli.options import ConfigOption, command_app
from adhere.cli.rows import read_rows
from adhere.cli.verdict_text import for_terminal
from adhere.config import Config, load_config
from adhere.errors import UsageError
from adhere.run.data_dir import DataDir
from adhere.run.plan import configured_evaluator
from collector.assembly.render import to_text
from collector.errors import AdhereError
from collector.live.archive import open_archive
from collector.live.standard import StandardReconstruction
from collector.model import Conversation
from evaluators.errors import EvaluatorConfigError
from evaluators.formats import ColumnMap
from evaluators.measuring.labels import Label, LabelledUnit, labelled, new_labels, read_labels, write_labels

app = command_app()

_KEYS: dict[str, Label] = {"p": "pass", "f": "fail", "u": "unsure"}
_PROMPT = "[p]ass, [f]ail, [u]nsure, [b]ack, [q]uit: "


@app.command()
def label(
    labels: Annotated[
        Path, typer.Argument(metavar="LABELS", help="The file of labels; made if it is not there.", show_default=False)
    ],
    *,
    source: Annotated[
        list[Path] | None,
        typer.Option("--from", help="Take units of these files, not of the data folder. Can be repeated."),
    ] = None,
    evaluator: Annotated[str, typer.Option(help="The evaluator that is to be measured.")] = "task_adherence",
    number: Annotated[int, typer.Option("--number", "-n", min=1, max=10_000, help="How many units.")] = 60,
    write_only: Annotated[
        bool, typer.Option("--write-only", help="Make the file and ask nothing; labels are put in with an editor.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Take the same units again.")] = None,
    config: ConfigOption = None,
) -> None:
    """Label units: pass or fail, as you would have judged them. Each answer is saved; the same command goes on.

    Units are a random sample of the conversations of the data folder, or of files in any form that `adhere evaluate`
    reads. What a judge said of them is not shown. `adhere calibrate LABELS` then measures the judge.
    """
    try:
        if labels.exists():
            units = read_labels(labels)
        else:
            rng = random.Random(seed)  # noqa: S311 - a sample, and no secret
            loaded = load_config(config)
            with _conversations(loaded, source or [], rng) as found:
                units = new_labels(found, configured_evaluator(loaded, evaluator), number=number, random=rng)
            if not units:
                raise UsageError("No unit with anything to judge was found; name other files with --from.")
            write_labels(labels, units)
            typer.echo(f"{len(units)} units were written to {labels}.")
        if not write_only:
            _ask(labels, units)
    except EvaluatorConfigError as err:
        raise UsageError(str(err)) from err
    _summary(labels, read_labels(labels))


@contextmanager
def _conversations(config: Config, files: Sequence[Path], rng: random.Random) -> Iterator[Iterator[Conversation]]:
    if files:
        check_files(files)
        rows = [row for file in files for row in read_rows(file, form=None, columns=ColumnMap())]
        found = [conversation for row in rows for conversation in row.conversations]
        yield iter(rng.sample(found, len(found)))
        return
    path = DataDir(config.data_dir).conversations
    try:
        with open_archive(path, reconstruction=StandardReconstruction()) as archive:
            yield archive.sample(rng)
    except EvaluatorConfigError:
        raise
    except AdhereError as err:
        raise UsageError(f"{err} Name files of conversations with --from.") from err


def _ask(path: Path, units: list[LabelledUnit]) -> None:
    """Until all have a label, or the person stops."""
    at = next((number for number, one in enumerate(units) if one.label is None), len(units))
    while at < len(units):
        one = units[at]
        typer.echo(f"\n── {at + 1} of {len(units)} " + "─" * 40)
        typer.echo(for_terminal(to_text(one.unit.conversation)))
        typer.echo(f"\n{for_terminal(one.question)}")
        given = _read(_PROMPT)
        if given is None or given == "q":
            return
        if given == "b":
            at = max(0, at - 1)
        elif given in _KEYS:
            note = _read("Why (Enter for nothing): ") if given == "f" else ""
            units[at] = labelled(one, _KEYS[given], note or "")
            write_labels(path, units)
            at += 1


def _read(prompt: str) -> str | None:
    """One line; None at the end of the input."""
    typer.echo(prompt, nl=False)
    line = sys.stdin.readline()
    return line.strip() if line else None


def _summary(path: Path, units: Sequence[LabelledUnit]) -> None:
    counts = {name: sum(one.label == name for one in units) for name in ("pass", "fail", "unsure")}
    left = sum(one.label is None for one in units)
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    typer.echo(f"\n{path}: {told}, {left} without a label.")
    if left:
        typer.echo("The same command goes on from here.")
