"""Files of conversations: OTLP JSON lines, which are read as one, or rows of any accepted form, one a line."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from adhere.cli.files import on_disk, read_requests
from adhere.errors import UsageError
from collector.assembly.reconstruct import reconstruct
from collector.dialects.declared import DeclaredSpan
from collector.model import Conversation
from collector.telemetry.json_text import loads
from evaluators.errors import InputFormError
from evaluators.formats import ColumnMap, conversations_from
from evaluators.formats.otlp import fits as is_otlp

OTLP = "otlp"
MAX_LINE_BYTES = 256 << 20
_FIRST_LINES = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One line, or a whole file of telemetry."""

    file: Path
    number: int | None
    """Counts from 1; None for telemetry."""
    conversations: Sequence[Conversation] = ()
    error: InputFormError | None = None
    """Why no conversation could be read; the other rows are."""


def read_rows(
    file: Path, *, form: str | None, columns: ColumnMap, declared: Sequence[DeclaredSpan] = ()
) -> Iterator[Row]:
    """Raises UsageError for a file that cannot be read at all."""
    with on_disk(file) as source:
        if form == OTLP or (form is None and not columns.pairs and _is_telemetry(source)):
            yield Row(file, None, reconstruct(read_requests(source), declared=declared))
            return
        for number, line in _lines(source):
            try:
                yield Row(file, number, conversations_from(columns.apply(_value(line)), name=form))
            except InputFormError as err:
                yield Row(file, number, error=err)


def _is_telemetry(file: Path) -> bool:
    """By the first line that is JSON, so that a broken one costs itself; without any among the first, the reader of
    telemetry is left to complain, which names the line.
    """
    for _, line in islice(_lines(file), _FIRST_LINES):
        try:
            return is_otlp(loads(line))
        except ValueError:
            continue
    return True


def _value(line: bytes) -> object:
    try:
        return loads(line)
    except ValueError as err:
        raise InputFormError("The line is no valid JSON.") from err


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with file.open("rb") as lines:
            number = 0
            while line := lines.readline(MAX_LINE_BYTES + 1):
                number += 1
                line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if len(line) > MAX_LINE_BYTES:
                    raise UsageError(f"Line {number} of {file} has more than {MAX_LINE_BYTES} bytes; split it.")
                if line.strip():
                    yield number, line
    except OSError as err:
        raise UsageError(f"The file {file} cannot be read: {err.strerror}.") from err
