"""`adhere rubric`: the rubrics that were compiled from agents' prompts, and what people make of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

import click
import typer

from adhere.cli.options import ConfigOption, command_app
from adhere.cli.verdict_text import for_terminal
from adhere.config import load_config
from adhere.errors import CommandError, UsageError
from adhere.run.data_dir import DataDir
from evaluators.agent_rubric.agent_version import agent_key
from evaluators.agent_rubric.shelf import RubricShelf, Shelved
from evaluators.errors import EvaluatorConfigError
from evaluators.rubric.file import read_rubric_file
from evaluators.rubric.model import Rubric
from evaluators.rubric.reading import read_rubric
from evaluators.rubric.writing import written
from evaluators.strict_yaml import YamlTextError, parse_yaml, write_yaml

app = command_app("Show, edit and export the rubrics that were compiled from agents' prompts.")
KeyArgument: TypeAlias = Annotated[
    str, typer.Argument(help="A rubric's key, or the beginning of it; or an agent's name.", show_default=False)
]


@app.command("list")
def list_rubrics(config: ConfigOption = None) -> None:
    """List all rubrics by agent, the newest first."""
    found = _all(_shelf(config))
    if not found:
        typer.echo("No rubric is compiled yet: configure the evaluator agent_rubric, and a judge.")
    for one in found:
        words = "edited" if one.is_edited else f"compiled {one.about.get('compiled_at', '')}"
        version = f" {one.about['version']}" if one.about.get("version") else ""
        typer.echo(for_terminal(f"{one.key}  {one.agent}{version}  {len(one.rubric.criteria)} criteria  {words}"))


@app.command(short_help="Show one rubric, with the words it was made from.")
def show(key: KeyArgument, config: ConfigOption = None) -> None:
    """Show one rubric: each criterion with the words of the prompt that it was made from."""
    found = _find(_shelf(config), key)
    for name in ("service", "agent", "version", "compiled_by", "compiled_at"):
        if found.about.get(name) is not None:
            typer.echo(for_terminal(f"{name}: {found.about[name]}"))
    if found.about.get("injection_suspected"):
        typer.echo("The prompt may try to steer whoever judges it; look at the criteria with care.")
    typer.echo(f"rubric: {found.key}, version {found.rubric.version}{', edited' if found.is_edited else ''}")
    for criterion in found.rubric.criteria:
        marks = ", ".join(filter(None, [criterion.kind, "required" if criterion.required else None]))
        typer.echo(for_terminal(f"\n{criterion.name}{f' ({marks})' if marks else ''}\n  {criterion.ask}"))
        if criterion.applies:
            typer.echo(for_terminal(f"  applies: {criterion.applies}"))
        if criterion.source:
            typer.echo(for_terminal(f"  source: {criterion.source!r}"))


@app.command()
def edit(
    key: KeyArgument,
    config: ConfigOption = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="Take the rubric from this file instead of opening an editor.")
    ] = None,
    *,
    all_versions: Annotated[
        bool, typer.Option("--all-versions", help="For every version of the agent that has none of its own.")
    ] = False,
) -> None:
    """Edit a rubric in $EDITOR. What people wrote wins over what was compiled, from the next judgement on."""
    shelf = _shelf(config)
    found = _find(shelf, key)
    rubric = _from_file(file) if file is not None else _from_editor(found.rubric)
    if rubric is None:
        typer.echo("Nothing was changed.")
        return
    about = found.about if not all_versions else {name: found.about.get(name) for name in ("service", "agent")}
    target = _agent_key(found.about) if all_versions else found.key
    _write(shelf, target, rubric, about)
    typer.echo(
        f"{target} has {len(rubric.criteria)} criteria now; what it judges is judged by version {rubric.version}."
    )


@app.command(short_help="Write a rubric as a file of its own.")
def export(
    key: KeyArgument,
    config: ConfigOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the file here.", show_default="standard output")
    ] = None,
) -> None:
    """Write a rubric as a file of its own, for `evaluators: [rubric: {file: ...}]` or for version control."""
    text = write_yaml(written(_find(_shelf(config), key).rubric))
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as err:
        raise CommandError(f"The file {output} cannot be written: {err.strerror}.") from err


@app.command(short_help="Take away what people wrote.")
def restore(key: KeyArgument, config: ConfigOption = None) -> None:
    """Take away what people wrote, so that the compiled rubric holds again."""
    shelf = _shelf(config)
    if not shelf.restore(key):  # What cannot be read has only its whole key.
        key = _find(shelf, key).key
        if not shelf.restore(key):
            raise UsageError(f"The rubric {key} was not edited.")
    typer.echo(f"What was written for {key} is gone.")


def _shelf(config: Path | None) -> RubricShelf:
    return RubricShelf(DataDir(load_config(config).data_dir).rubrics)


def _all(shelf: RubricShelf) -> list[Shelved]:
    try:
        return shelf.all()
    except EvaluatorConfigError as err:
        raise CommandError(str(err)) from err


def _find(shelf: RubricShelf, key: str) -> Shelved:
    found = _all(shelf)
    matching = [one for one in found if one.key == key] or [one for one in found if one.key.startswith(key)]
    matching = matching or [one for one in found if one.agent == key][:1]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise UsageError(f"{key} is the beginning of {', '.join(one.key for one in matching)}; give more of it.")
    raise UsageError(f"There is no rubric {key}; see `adhere rubric list`.")


def _from_file(file: Path) -> Rubric:
    try:
        return _read(read_rubric_file(file), place=str(file))
    except EvaluatorConfigError as err:
        raise UsageError(str(err)) from err


def _from_editor(rubric: Rubric) -> Rubric | None:
    """Until it can be read, or is given up."""
    text = write_yaml(written(rubric))
    while True:
        changed = click.edit(text, extension=".yaml")
        if changed is None or changed == text:
            return None
        try:
            return _read(parse_yaml(changed), place="rubric")
        except (EvaluatorConfigError, YamlTextError) as err:
            typer.echo(str(err), err=True)
        if not sys.stdin.isatty() or not typer.confirm("Edit again?", default=True):
            raise UsageError("The rubric cannot be read, and nothing was changed.")
        text = changed


def _read(value: object, *, place: str) -> Rubric:
    problems: list[str] = []
    rubric = read_rubric(value, place=place, problems=problems)
    if rubric is None or problems:
        raise EvaluatorConfigError("\n".join(problems))
    return replace(rubric, on=None)


def _agent_key(about: Mapping[str, object]) -> str:
    service, agent = about.get("service"), about.get("agent")
    return agent_key(str(service) if service is not None else None, str(agent) if agent is not None else None)


def _write(shelf: RubricShelf, key: str, rubric: Rubric, about: Mapping[str, object]) -> None:
    try:
        shelf.edit(key, rubric, about=about)
    except OSError as err:
        raise CommandError(f"The rubric {key} cannot be written below {shelf.folder}: {err.strerror}.") from err
