"""Keeps a library out that another one loads where it finds it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_rich() -> Iterator[None]:
    """For the first import of structlog: its renderer for developers loads rich, a third of the time to start, for
    tracebacks that our log prints plainly. Afterwards rich can be imported as ever.
    """
    hidden = "rich" not in sys.modules
    if hidden:
        sys.modules["rich"] = None  # type: ignore[assignment]  # how Python writes "not to be imported"
    try:
        yield
    finally:
        if hidden:
            del sys.modules["rich"]
