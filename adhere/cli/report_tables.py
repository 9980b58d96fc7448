"""A report as tables for a terminal or a file."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from adhere.cli.verdict_text import short
from evaluators.measuring.report import Report

_WIDTH = 150
"""Where the output is no terminal."""


def print_report(report: Report) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    for part in report.tables:
        table = Table(title=part.title, title_justify="left")
        for column in part.columns:
            table.add_column(column)
        for row in part.rows:
            table.add_row(*(Text(short(cell)) for cell in row))
        console.print(table)
