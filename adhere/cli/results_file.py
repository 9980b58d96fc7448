"""The results of a batch as JSON lines: every verdict, whole or in a view, and every row that could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import orjson

from adhere.cli.rows import Row
from adhere.errors import CommandError
from collector.model import Conversation
from evaluators.errors import MissingArgumentError
from evaluators.verdict import UnitKind, Verdict
from evaluators.views import view_of
from evaluators.views.echo import echo_of
from exporters.plain import plain_json
from exporters.verdict_line import SCHEMA, verdict_fields, verdict_line

_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS


@dataclass(frozen=True, slots=True)
class Result:
    """One verdict, and where its conversation came from."""

    row: Row
    conversation: Conversation
    verdict: Verdict


class ResultsFile:
    """Takes each result as it comes: what was judged is there, whatever ends the command."""

    def __init__(self, path: Path | None, *, view: str | None, echo: bool) -> None:
        """Without a path nothing is written; with one, what the file held is gone."""
        self._path = path
        self._view = view
        self._echo = echo
        self._file: BinaryIO | None = None
        if path is not None:
            with _explained(path):
                self._file = path.open("wb")

    def add(self, result: Result) -> None:
        if self._file is not None:
            self._write(_line(result, view=self._view, echo=self._echo))

    def add_unread(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._write(orjson.dumps(_unread(row), option=_OPTIONS))

    def close(self) -> None:
        if self._file is not None and self._path is not None:
            with _explained(self._path):
                self._file.close()

    def _write(self, line: bytes) -> None:
        if self._file is not None and self._path is not None:
            with _explained(self._path):
                self._file.write(line)
                self._file.flush()


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as err:
        raise CommandError(f"The results cannot be written to {path}: {err.strerror}.") from err


def _line(result: Result, *, view: str | None, echo: bool) -> bytes:
    verdict = result.verdict
    if view is None and result.row.number is None and not echo:
        return verdict_line(verdict)
    place = {} if result.row.number is None else _place(result.row)
    if view is None:
        found = {"schema": SCHEMA, **place, **verdict_fields(verdict)}
    else:
        turn = verdict.turn_index if verdict.unit_kind is UnitKind.TURN else None
        about = {"conversation_id": verdict.conversation_id, "evaluator": verdict.evaluator, "turn": turn}
        found = {**place, **about, "result": view_of(verdict, view)}
    if echo:
        found["echo"] = echo_of(result.conversation)
    return orjson.dumps(plain_json(found), option=_OPTIONS)


def _unread(row: Row) -> dict[str, object]:
    error = row.error
    told: dict[str, object] = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, MissingArgumentError):
        told["argument"] = error.argument
    return {**_place(row), "error": told}


def _place(row: Row) -> dict[str, object]:
    return {"file": row.file.name, "row": row.number}
