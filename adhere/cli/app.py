"""The `adhere` command. A command's module is imported when the command runs, so that each starts quickly."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

_COMMANDS: Mapping[str, str] = {
    "run": "Run the sidecar: receive, relay, judge, give the scores back.",
    "demo": "See it work: the real sidecar on recorded conversations, in a temporary folder.",
    "reconstruct": "Rebuild the conversations in recorded telemetry.",
    "evaluate": "Judge the conversations in files: recorded telemetry, or a data set.",
    "explain": "Say what is known about one conversation, and why it was or was not judged.",
    "override": "Replace a score by a person's.",
    "replay": "Send recorded telemetry to any OTLP endpoint.",
    "label": "Label units, pass or fail, to measure a judge with.",
    "calibrate": "Measure the judge on labelled units, and keep the result for reports.",
    "bench": "Measure a judge on labelled conversations, or against attacks.",
    "rubric": "Show, edit and export the rubrics that were compiled from agents' prompts.",
    "config": "Check a configuration, or print its JSON schema.",
    "judging": "List the units whose judging was given up, or have them asked again.",
    "exporters": "List the configured exporters, try one with a test score, or send dead letters again.",
}
"""Name and first line of help; each is a module of this package with an `app`."""


class _LazyCommands(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer's signature
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - typer's signature
        if cmd_name not in _COMMANDS:
            return None
        return typer.main.get_command(import_module(f"adhere.cli.{cmd_name}").app)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - same
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


app = typer.Typer(
    name="adhere",
    cls=_LazyCommands,
    help="Judges the adherence of live LLM agents from the OpenTelemetry data they already send.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:  # noqa: FBT001 - typer's form of a callback
    if value:
        typer.echo(f"adhere {version('adhere')}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool | None, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = None,
) -> None:
    pass
