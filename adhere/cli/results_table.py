"""Verdicts of a batch: the failures with their evidence, a table of all outcomes, and a JSON-lines file."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from adhere.cli.verdict_text import is_flag, short, target
from adhere.errors import CommandError
from evaluators.verdict import Outcome, Verdict
from exporters.verdict_line import verdict_line

_WIDTH = 118
"""Where the output is no terminal."""


def print_results(verdicts: Sequence[Verdict], *, conversations: int) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    for verdict in filter(is_flag, verdicts):
        console.print(
            Text(f"{short(verdict.conversation_id)} · {target(verdict)} · {verdict.evaluator} · fail", style="bold red")
        )
        console.print(Text(f"  {short(verdict.reason)}"))
        for evidence in verdict.evidence:
            console.print(Text(f"  “{short(evidence.quote)}”", style="italic"))
    table = Table(title=f"{conversations} conversations, {len(verdicts)} verdicts")
    table.add_column("evaluator")
    for outcome in Outcome:
        table.add_column(outcome.value, justify="right")
    table.add_column("mean score", justify="right")
    table.add_column("cost (USD)", justify="right")
    for evaluator in sorted({verdict.evaluator for verdict in verdicts}):
        own = [verdict for verdict in verdicts if verdict.evaluator == evaluator]
        counts = Counter(verdict.outcome for verdict in own)
        scores = [verdict.score for verdict in own if verdict.score is not None]
        costs = [verdict.judge.cost_usd for verdict in own if verdict.judge.cost_usd is not None]
        table.add_row(
            evaluator,
            *(str(counts[outcome] or "") for outcome in Outcome),
            f"{sum(scores) / len(scores):.2f}" if scores else "-",
            f"{sum(costs):.4f}" if costs else "-",
        )
    console.print(table)
    unanswered = Counter(verdict.error_type for verdict in verdicts if verdict.error_type)
    for reason, count in unanswered.most_common():
        console.print(Text(f"{count} without an answer: {reason}", style="dim"))


def write_results(verdicts: Sequence[Verdict], path: Path) -> None:
    try:
        with path.open("wb") as file:
            for verdict in verdicts:
                file.write(verdict_line(verdict))
    except OSError as err:
        raise CommandError(f"The results cannot be written to {path}: {err.strerror}.") from err
