"""`adhere judging`: list the units whose judging was given up, and have them asked again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from adhere.cli.dead_tables import print_dead_judgings
from adhere.cli.options import ConfigOption, command_app
from adhere.config import Config, load_config
from adhere.errors import CommandError, ConfigError, UsageError
from adhere.run.data_dir import DataDir
from collector.clock import SystemClock
from collector.errors import AdhereError
from evaluators.errors import EvaluatorConfigError
from evaluators.nearest import did_you_mean
from evaluators.pipeline.setup import make_setups
from evaluators.registry import EvaluatorRegistry
from evaluators.store.dead import call_back, dead_judgings

app = command_app("List the units whose judging was given up, or have them asked again.")


@app.command()
def dead(
    evaluator: Annotated[str | None, typer.Argument(help="Only of this evaluator.", show_default=False)] = None,
    *,
    conversation: Annotated[
        str | None, typer.Option(help="Only of the conversation with this id.", show_default=False)
    ] = None,
    config: ConfigOption = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Show at most so many, the newest.")] = 100,
) -> None:
    """Show the units whose judging failed for good, and why.

    They have no score, and are not asked again by themselves, only by a later turn or by `adhere judging retry`. Adhere
    may run meanwhile.
    """
    store = DataDir(load_config(config).data_dir).verdicts
    try:
        found = dead_judgings(store, evaluator, conversation_id=conversation, limit=limit + 1) if store.exists() else []
    except AdhereError as err:
        raise CommandError(str(err)) from err
    print_dead_judgings(found[:limit], now_ns=SystemClock().now_ns())
    if len(found) > limit:
        typer.echo(f"There are more than these {limit}; --limit shows more.")


@app.command()
def retry(
    evaluator: Annotated[str | None, typer.Argument(help="Name of the evaluator.", show_default=False)] = None,
    *,
    all_evaluators: Annotated[bool, typer.Option("--all", help="Of every configured evaluator.")] = False,
    conversation: Annotated[
        str | None, typer.Option(help="Only of the conversation with this id.", show_default=False)
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Have an evaluator's failed units asked again.

    In the data folder of a running or stopped Adhere. Mend first what they failed of, which `adhere judging dead`
    shows. They are asked within a minute, or after the next start, as new ones are: within the budget and with all
    tries. The new verdict supersedes the error wherever that went; what fails again is listed again.
    """
    if (evaluator is None) is not all_evaluators:
        raise UsageError("Name one evaluator, or give --all.")
    settings = load_config(config)
    known = _names(settings)
    if evaluator is not None and evaluator not in known:
        raise UsageError(f"The configuration has no evaluator named {evaluator!r}; {did_you_mean(evaluator, known)}")
    chosen = known if evaluator is None else [evaluator]
    store = DataDir(settings.data_dir).verdicts
    try:
        counts = call_back(store, chosen, conversation_id=conversation) if store.exists() else {}
    except AdhereError as err:
        raise CommandError(str(err)) from err
    for name in chosen:
        typer.echo(f"{name}: {counts.get(name, 0)} to be asked again")


def _names(config: Config) -> Sequence[str]:
    entries = [(entry.name, entry.options) for entry in config.evaluators]
    try:
        setups = make_setups(entries, registry=EvaluatorRegistry(), judge=None)
    except EvaluatorConfigError as err:
        raise ConfigError(str(err).splitlines()) from err
    return [setup.name for setup in setups]
