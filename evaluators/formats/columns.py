"""Columns of a data set under the names that the forms have: `query=question` takes `query` from `question`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluators.errors import InputFormError, MissingArgumentError


@dataclass(frozen=True, slots=True)
class ColumnMap:
    pairs: tuple[tuple[str, str], ...] = ()
    """Name and path each; a path is a column, or dotted into one."""

    @classmethod
    def parse(cls, entries: Iterable[str]) -> ColumnMap:
        pairs: list[tuple[str, str]] = []
        for entry in entries:
            name, equals, path = (part.strip() for part in entry.partition("="))
            if not (name and equals and path):
                raise InputFormError(f"The column mapping {entry!r} must be NAME=COLUMN, such as query=question.")
            if any(name == other for other, _ in pairs):
                raise InputFormError(f"The column mapping gives {name!r} twice; give each name one column.")
            pairs.append((name, path))
        return cls(tuple(pairs))

    def apply(self, row: object) -> object:
        """The row with the mapped names added; the other columns stay as they are."""
        if not self.pairs:
            return row
        if not isinstance(row, Mapping):
            raise InputFormError("A row with a column mapping must be a JSON object.")
        return {**row, **{name: _at(row, path) for name, path in self.pairs}}


def _at(row: Mapping[str, Any], path: str) -> object:
    if path in row:
        return row[path]
    value: object = row
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise MissingArgumentError(path, f"The row has no column {path!r}, which the column mapping names.")
        value = value[part]
    return value
