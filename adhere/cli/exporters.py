"""`adhere exporters`: list the configured exporters, try one, and send again what one refused."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.options import ConfigOption, command_app
from adhere.errors import CommandError, UsageError

if TYPE_CHECKING:
    from adhere.config.model import Config

app = command_app("List the configured exporters, try one with a test score, or send dead letters again.")


@app.command("list")
def list_exporters(config: ConfigOption = None) -> None:
    """Name the exporters of the configuration, each with its kind."""
    from adhere.config import load_config  # noqa: PLC0415 - quick start

    found = load_config(config)
    for name, entry in zip(_names(found), found.exporters, strict=True):
        typer.echo(name if name == entry.name else f"{name} ({entry.name})")


@app.command("test", short_help="Send one test score, and read it back where the API can.")
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


@app.command("dead", short_help="Show the verdicts that were given up.")
def dead(
    name: Annotated[str | None, typer.Argument(help="Only of this exporter.", show_default=False)] = None,
    config: ConfigOption = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Show at most so many, the newest.")] = 100,
) -> None:
    """Show the verdicts that were given up for an exporter, without their content; Adhere may run meanwhile."""
    from adhere.cli.dead_tables import print_dead_letters  # noqa: PLC0415 - quick start
    from adhere.config import load_config  # noqa: PLC0415 - same
    from adhere.run.data_dir import DataDir  # noqa: PLC0415 - same
    from collector.clock import SystemClock  # noqa: PLC0415 - same
    from collector.errors import AdhereError  # noqa: PLC0415 - same
    from exporters.outbox.beside import dead_letters  # noqa: PLC0415 - same

    outbox = DataDir(load_config(config).data_dir).outbox
    try:
        found = dead_letters(outbox, name, limit=limit + 1) if outbox.exists() else []
    except AdhereError as err:
        raise CommandError(str(err)) from err
    print_dead_letters(found[:limit], now_ns=SystemClock().now_ns())
    if len(found) > limit:
        typer.echo(f"There are more than these {limit}; --limit shows more.")


@app.command("redeliver", short_help="Send dead letters again.")
def redeliver(
    name: Annotated[str | None, typer.Argument(help="Name of the exporter.", show_default=False)] = None,
    *,
    all_exporters: Annotated[bool, typer.Option("--all", help="Of every configured exporter.")] = False,
    config: ConfigOption = None,
) -> None:
    """Put an exporter's dead letters back into its queue, in the data folder of a running or stopped Adhere.

    They are sent within a minute, or after the next start; what is refused again is a dead letter again.
    """
    from adhere.config import load_config  # noqa: PLC0415 - quick start
    from adhere.run.data_dir import DataDir  # noqa: PLC0415 - same
    from collector.clock import SystemClock  # noqa: PLC0415 - same
    from collector.errors import AdhereError  # noqa: PLC0415 - same
    from exporters.outbox import beside  # noqa: PLC0415 - same

    if (name is None) is not all_exporters:
        raise UsageError("Name one exporter, or give --all.")
    settings = load_config(config)
    chosen = _names(settings) if name is None else [name]
    if name is not None and name.split("/")[0] not in _names(settings):
        known = ", ".join(_names(settings)) or "none"
        raise UsageError(f"The configuration has no exporter named {name!r}; it has: {known}.")
    outbox = DataDir(settings.data_dir).outbox
    try:
        counts = beside.redeliver(outbox, chosen, now_ns=SystemClock().now_ns()) if outbox.exists() else {}
    except AdhereError as err:
        raise CommandError(str(err)) from err
    for exporter in chosen:
        typer.echo(f"{exporter}: {counts.get(exporter, 0)} back in the queue")


def _names(config: Config) -> list[str]:
    return [str(entry.options.get("name") or entry.name) for entry in config.exporters]
