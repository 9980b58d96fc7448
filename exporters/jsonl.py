"""Verdicts as JSON lines in a file, one a line, for whatever reads files.

A line is on disk (fsync) before the verdict counts as delivered. Delivery is at least once: after a crash a verdict may
stand there twice, with the same `id`; readers keep the last. Nothing from telemetry goes into a path.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from evaluators.verdict import Verdict
from exporters.lines_file import LinesFile
from exporters.verdict_line import SCHEMA, verdict_line

_LINE_START: Final = f'{{"schema":"{SCHEMA}"'.encode()


class JsonlExporter:
    def __init__(
        self, path: Path, *, name: str = "jsonl", max_file_bytes: int = 100 << 20, max_files: int = 10
    ) -> None:
        """Creates the folder and the file with the first verdict, readable by the owner only."""
        self.name = name
        self._file = LinesFile(path, name=name, is_torn=_is_torn, max_file_bytes=max_file_bytes, max_files=max_files)

    async def export(self, verdicts: Sequence[Verdict]) -> None:
        lines = b"".join(verdict_line(verdict) for verdict in verdicts)
        await asyncio.to_thread(self._file.append, lines)

    async def close(self) -> None:
        await asyncio.to_thread(self._file.close)


def _is_torn(tail: bytes) -> bool:
    is_ours = tail.startswith(_LINE_START) or _LINE_START.startswith(tail)
    return is_ours and not _is_json(tail)


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
