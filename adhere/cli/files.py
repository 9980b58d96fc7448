"""Files of OTLP JSON lines given on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from adhere.errors import UsageError
from collector.errors import PermanentError
from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import Signal


def check_files(files: Sequence[Path]) -> None:
    """Raises UsageError before any work is done."""
    for file in files:
        if not file.exists():
            raise UsageError(f"The file {file} does not exist; give OTLP JSON lines.")
        if file.is_dir():
            raise UsageError(f"{file} is a folder; name the files in it, such as {file}/*.jsonl.")


def read_requests(file: Path) -> Iterator[tuple[Signal, bytes]]:
    """Raises UsageError that names the file and the line."""
    try:
        yield from read_jsonl(file)
    except OSError as err:
        raise UsageError(f"The file {file} cannot be read: {err.strerror}.") from err
    except PermanentError as err:
        raise UsageError(str(err)) from err
