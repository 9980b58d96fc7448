"""Dead letters of the exporters as a table: which, why and since when, never what they say."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from exporters.outbox import DeadLetter

_WIDTH = 150
"""Where the output is no terminal."""

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def print_dead_letters(letters: Sequence[DeadLetter], *, now_ns: int) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    if not letters:
        console.print("There are no dead letters.")
        return
    table = Table("exporter", "verdict", "reason", "tries", "age")
    for one in letters:
        age = age_text((now_ns - one.died_ns) / 1e9)
        table.add_row(*(Text(cell) for cell in (one.destination, one.verdict_id, one.reason, str(one.tries), age)))
    console.print(table)


def age_text(seconds: float) -> str:
    """In the largest unit that fits; none is below zero, whatever the clock did."""
    whole = max(0, int(seconds))
    return next((f"{whole // size} {unit}" for size, unit in _UNITS if whole >= size), f"{whole} s")
