"""Verdicts of a batch for a person: the failures with their evidence, and a table of all outcomes."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from adhere.cli.aggregate import aggregates_of
from adhere.cli.rows import Row
from adhere.cli.verdict_text import for_terminal, is_flag, short, target
from collector.model import Conversation
from evaluators.verdict import Outcome, Verdict
from evaluators.views.steps import steps_of

_WIDTH = 118
"""Where the output is no terminal."""
_MAX_UNREAD = 5


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
    table.add_column("passed", justify="right")
    table.add_column("mean score", justify="right")
    table.add_column("cost (USD)", justify="right")
    for found in aggregates_of(verdicts):
        table.add_row(
            found.evaluator,
            *(str(found.outcomes.get(outcome) or "") for outcome in Outcome),
            "-" if found.pass_rate is None else f"{found.pass_rate:.0%}",
            "-" if found.mean_score is None else f"{found.mean_score:.2f}",
            "-" if found.cost_usd is None else f"{found.cost_usd:.4f}",
        )
    console.print(table)
    unanswered = Counter(verdict.error_type for verdict in verdicts if verdict.error_type)
    for reason, count in unanswered.most_common():
        console.print(Text(f"{count} without an answer: {reason}", style="dim"))


def print_steps(results: Iterable[tuple[Verdict, Conversation]]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for verdict, conversation in results:
        for number, line in enumerate(steps_of(verdict, conversation)):
            console.print(Text(for_terminal(line if number == 0 else f"  {line}")))


def print_unread(rows: Sequence[Row]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for row in rows[:_MAX_UNREAD]:
        console.print(Text(for_terminal(f"Row {row.number} of {row.file} was not read: {row.error}"), style="yellow"))
    if len(rows) > _MAX_UNREAD:
        console.print(Text(f"{len(rows) - _MAX_UNREAD} more rows were not read; the results file names them."))
