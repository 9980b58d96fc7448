"""`adhere override`: a person's evaluation in the place of a score."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Annotated

import typer

from adhere.cli.options import ConfigOption, command_app
from adhere.cli.verdict_text import verdict_lines
from adhere.config import load_config
from adhere.errors import CommandError, UsageError
from adhere.run.data_dir import DataDir
from collector.clock import SystemClock
from evaluators.errors import EvaluatorConfigError, StoreUnavailableError
from evaluators.override import override as overridden
from evaluators.pipeline.binding import decision_for
from evaluators.store.opening import open_beside
from evaluators.store.verdicts import find_verdict, record_verdict
from evaluators.verdict import Verdict

app = command_app()


@app.command()
def override(
    verdict_id: Annotated[str, typer.Argument(help="As `adhere explain` shows it.", show_default=False)],
    *,
    score: Annotated[
        float | None, typer.Option(min=0, max=1, help="The right score, 0 to 1; without it, no score is right.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why, for whoever reads the score.", show_default=False)],
    by: Annotated[str, typer.Option(help="Who says so.", show_default=False)],
    config: ConfigOption = None,
) -> None:
    """Replace a verdict's score by a person's, in the data folder of a running or stopped Adhere.

    It goes out to every exporter as the verdict that supersedes the score, within a minute, or after the next start.
    What it replaces stays beside it.
    """
    data = DataDir(load_config(config).data_dir)
    if not data.verdicts.exists():
        raise CommandError(f"There are no verdicts in {data.path} yet.")
    try:
        with closing(open_beside(data.verdicts)) as connection:
            found = _replace(connection, verdict_id, score=score, reason=reason, by=by)
    except EvaluatorConfigError as err:
        raise UsageError(str(err)) from err
    except StoreUnavailableError as err:
        raise CommandError(str(err)) from err
    except sqlite3.Error as err:
        raise CommandError(f"The verdict cannot be replaced: the store says {err}.") from err
    for line in verdict_lines(found):
        typer.echo(line)


def _find(connection: sqlite3.Connection, verdict_id: str) -> Verdict:
    verdict = find_verdict(connection, verdict_id)
    if verdict is None:
        raise UsageError(f"No verdict has the id {verdict_id!r}; `adhere explain CONVERSATION_ID` shows them.")
    return verdict


def _replace(connection: sqlite3.Connection, verdict_id: str, *, score: float | None, reason: str, by: str) -> Verdict:
    connection.execute("BEGIN IMMEDIATE")
    try:
        human = overridden(
            _find(connection, verdict_id), score=score, reason=reason, by=by, now_ns=SystemClock().now_ns()
        )
        human = record_verdict(connection, human, decision_for(human))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return human
