"""Verdicts as CSV in a file, one a row, for spreadsheets.

Text that a spreadsheet would take for a formula gets an apostrophe before it: explanations and labels come from models
and conversations. Line breaks inside of cells become spaces, so that a row is a line. UTF-8 with a byte order mark, as
spreadsheets want it. Otherwise as the JSON lines: on disk before it counts, at least once, the id tells doubles.
"""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from evaluators.verdict import Verdict
from exporters.lines_file import LinesFile
from exporters.otlp.attributes import evidence_json
from exporters.text import clean_line
from exporters.verdict_line import SCHEMA

Cell: TypeAlias = str | int | float | None

_MAX_CELL_CHARS: Final = 8000
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_MARK: Final = b"\xef\xbb\xbf"
_LINE_START: Final = f'"{SCHEMA}",'.encode()

COLUMNS: Final[Mapping[str, Callable[[Verdict], Cell]]] = MappingProxyType(
    {
        "schema": lambda _: SCHEMA,
        "id": lambda verdict: verdict.id,
        "judged_at": lambda verdict: _time(verdict.judged_ns),
        "target_end": lambda verdict: _time(verdict.target_end_ns),
        "service": lambda verdict: verdict.service,
        "agent_name": lambda verdict: verdict.agent_name,
        "agent_version": lambda verdict: verdict.agent_version,
        "conversation_id": lambda verdict: verdict.conversation_id,
        "unit": lambda verdict: verdict.unit_kind.value,
        "turn_index": lambda verdict: verdict.turn_index,
        "revision": lambda verdict: verdict.revision,
        "evaluator": lambda verdict: verdict.evaluator,
        "outcome": lambda verdict: verdict.outcome.value,
        "score": lambda verdict: verdict.score,
        "label": lambda verdict: verdict.label,
        "error_type": lambda verdict: verdict.error_type,
        "reason": lambda verdict: verdict.reason,
        "evidence": lambda verdict: evidence_json(verdict.evidence) if verdict.evidence else None,
        "trace_id": lambda verdict: verdict.trace_id,
        "span_id": lambda verdict: verdict.span_id,
        "judge": lambda verdict: verdict.judge.name,
        "cost_usd": lambda verdict: verdict.judge.cost_usd,
        "evaluator_version": lambda verdict: verdict.evaluator_version,
        "rubric_version": lambda verdict: verdict.rubric_version,
        "supersedes": lambda verdict: verdict.supersedes,
    }
)
_CONTENT_COLUMNS: Final = frozenset({"reason", "evidence"})


class CsvExporter:
    def __init__(
        self,
        path: Path,
        *,
        name: str = "csv",
        content: bool = True,
        max_file_bytes: int = 100 << 20,
        max_files: int = 10,
    ) -> None:
        """Creates the folder and the file with the first verdict, readable by the owner only."""
        self.name = name
        self._columns = {key: cell for key, cell in COLUMNS.items() if content or key not in _CONTENT_COLUMNS}
        self._file = LinesFile(
            path,
            name=name,
            is_torn=_is_torn,
            header=_MARK + _row(list(self._columns)),
            max_file_bytes=max_file_bytes,
            max_files=max_files,
        )

    async def export(self, verdicts: Sequence[Verdict]) -> None:
        rows = b"".join(_row([cell(verdict) for cell in self._columns.values()]) for verdict in verdicts)
        await asyncio.to_thread(self._file.append, rows)

    async def close(self) -> None:
        await asyncio.to_thread(self._file.close)


def safe_cell(value: Cell) -> Cell:
    """Numbers stay numbers; text is one line, bounded, and no formula."""
    if not isinstance(value, str):
        return value
    # Cut before the check, since what is taken out of a text may leave a formula.
    text = clean_line(value, max_chars=_MAX_CELL_CHARS)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) or value.startswith(_FORMULA_STARTS) else text


def _row(cells: Sequence[Cell]) -> bytes:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerow(
        ["" if cell is None else safe_cell(cell) for cell in cells]
    )
    return line.getvalue().encode()


def _time(time_ns: int) -> str | None:
    return datetime.fromtimestamp(time_ns / 1e9, tz=UTC).isoformat(timespec="milliseconds") if time_ns else None


def _is_torn(tail: bytes) -> bool:
    """A row ends with its line break, so what does not end with one is torn."""
    return tail.startswith((_LINE_START, _MARK)) or _LINE_START.startswith(tail) or _MARK.startswith(tail)
