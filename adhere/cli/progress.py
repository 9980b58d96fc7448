"""Progress on standard error, and only where a person looks at it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Steps:
    """Counts what is done; shows nothing where standard error is no terminal."""

    def __init__(self, progress: Progress, description: str, total: int | None) -> None:
        self._progress = progress
        self._task = progress.add_task(description, total=total)

    def advance(self, steps: int = 1) -> None:
        self._progress.advance(self._task, steps)


@contextmanager
def progress(description: str, *, total: int | None) -> Iterator[Steps]:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as shown:
        yield Steps(shown, description, total)
