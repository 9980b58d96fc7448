"""Files given on the command line, of OTLP JSON lines or of conversations; `-` is the standard input."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from adhere.errors import UsageError
from collector.errors import PermanentError
from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import Signal


def check_files(files: Sequence[Path]) -> None:
    """Raises UsageError before any work is done."""
    for file in map(_named, files):
        if not file.exists():
            raise UsageError(f"The file {file} does not exist; give OTLP JSON lines.")
        if file.is_dir():
            raise UsageError(f"{file} is a folder; name the files in it, such as {file}/*.jsonl.")


def read_requests(file: Path) -> Iterator[tuple[Signal, bytes]]:
    """Raises UsageError that names the file and the line."""
    try:
        yield from read_jsonl(_named(file))
    except OSError as err:
        raise UsageError(f"The file {file} cannot be read: {err.strerror}.") from err
    except PermanentError as err:
        raise UsageError(str(err)) from err


@contextmanager
def on_disk(file: Path) -> Iterator[Path]:
    """Where the file can be read more than once: what comes by a pipe can not, and is copied for as long."""
    source = _named(file)
    if source.is_file():
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="adhere-") as folder:
        copy = Path(folder, "input")
        try:
            with source.open("rb") as coming, copy.open("wb") as kept:
                shutil.copyfileobj(coming, kept)
        except OSError as err:
            raise UsageError(f"The file {file} cannot be read: {err.strerror}.") from err
        yield copy


def _named(file: Path) -> Path:
    return Path("/dev/stdin") if str(file) == "-" else file
