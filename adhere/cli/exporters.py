"""`adhere exporters`: list the configured exporters, and try one."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from adhere.cli.options import ConfigOption

app = typer.Typer(
    help="List the configured exporters, or try one with a test score.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("list")
def list_exporters(config: ConfigOption = None) -> None:
    """Name the exporters of the configuration, each with its kind."""
    from adhere.config import load_config  # noqa: PLC0415 - quick start

    for entry in load_config(config).exporters:
        name = entry.options.get("name") or entry.name
        typer.echo(name if name == entry.name else f"{name} ({entry.name})")


@app.command("test")
def try_one(
    name: Annotated[str, typer.Argument(help="Name of the exporter in the configuration, or its kind.")],
    config: ConfigOption = None,
    trace_id: Annotated[
        str | None, typer.Option(help="Trace that the score is for, 32 hexadecimal digits; else one that is made up.")
    ] = None,
    span_id: Annotated[
        str | None, typer.Option(help="Span that the score is for, 16 hexadecimal digits; else one that is made up.")
    ] = None,
    wait_s: Annotated[
        float, typer.Option(min=0, max=600, help="How long to look for the score where it can be read back (seconds).")
    ] = 15.0,
) -> None:
    """Send one score that is marked as a test, at once and past the outbox, and read it back where the API can.

    Many backends take scores only for spans that they know: name one with --trace-id and --span-id.
    """
    from adhere.config import load_config  # noqa: PLC0415 - quick start
    from adhere.run.exporter_trial import Target, try_exporter  # noqa: PLC0415 - same

    target = Target.of(trace_id=trace_id, span_id=span_id)
    for line in asyncio.run(try_exporter(load_config(config), name, target=target, wait_s=wait_s)):
        typer.echo(line)
