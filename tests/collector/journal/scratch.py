"""A place for the thousands of small journals that some tests make and none of them syncs."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

_IN_MEMORY = Path("/dev/shm")


@contextlib.contextmanager
def scratch_directory() -> Iterator[Path]:
    """In memory where the system offers that, since creating files on disk is most of such a test's time."""
    parent = _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="journal-", dir=parent) as name:
        yield Path(name)
