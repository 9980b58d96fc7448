"""What was given up, as a table: which, why and since when, never what it says."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from adhere.cli.verdict_text import short
from evaluators.store.dead import DeadJudging
from exporters.outbox import DeadLetter

_WIDTH = 150
"""Where the output is no terminal."""
_MAX_REASON = 160

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def print_dead_letters(letters: Sequence[DeadLetter], *, now_ns: int) -> None:
    _print(
        "There are no dead letters.",
        ("exporter", "verdict", "reason", "tries", "age"),
        ((one.destination, one.verdict_id, one.reason, str(one.tries), _age(one.died_ns, now_ns)) for one in letters),
    )


def print_dead_judgings(judgings: Sequence[DeadJudging], *, now_ns: int) -> None:
    _print(
        "There are no judgings that were given up.",
        ("evaluator", "conversation", "unit", "reason", "age"),
        (
            (
                one.evaluator,
                short(one.conversation_id),
                "conversation" if one.unit_key.startswith("conversation:") else f"turn {one.turn_index}",
                f"{'to be asked again; ' if one.is_called_back else ''}{short(one.reason, max_chars=_MAX_REASON)}",
                _age(one.died_ns, now_ns),
            )
            for one in judgings
        ),
    )


def age_text(seconds: float) -> str:
    """In the largest unit that fits; none is below zero, whatever the clock did."""
    whole = max(0, int(seconds))
    return next((f"{whole // size} {unit}" for size, unit in _UNITS if whole >= size), f"{whole} s")


def _age(since_ns: int, now_ns: int) -> str:
    return age_text((now_ns - since_ns) / 1e9)


def _print(nothing: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    table = Table(*columns)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table if table.row_count else nothing)
