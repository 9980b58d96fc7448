"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

ConfigOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="The YAML configuration; without it, defaults.", show_default=False),
]
TelemetryFiles: TypeAlias = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="OTLP JSON lines, as the OpenTelemetry Collector's file exporter writes them.",
        show_default=False,
    ),
]


def command_app(help_text: str | None = None) -> typer.Typer:
    """An app for one command, or with `help_text` for a group of them, with the settings that all share."""
    return typer.Typer(
        help=help_text,
        no_args_is_help=help_text is not None,
        pretty_exceptions_enable=False,
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
