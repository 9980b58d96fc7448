"""What was handed over, at which revision, and whether the judging side has taken it over."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(slots=True)
class UnitRow:
    key: str
    component: int
    revision: int
    digest: bytes | None
    """None: withdrawn."""
    given_ns: int
    acknowledged: bool


class UnitStore:
    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def of_component(self, component: int) -> dict[str, UnitRow]:
        found = self._database.execute(
            "SELECT key, component, revision, digest, given, acknowledged FROM unit WHERE component = ?", (component,)
        )
        return {row[0]: UnitRow(row[0], row[1], row[2], row[3], row[4], bool(row[5])) for row in found}

    def component_of(self, key: str) -> int | None:
        row = self._database.execute("SELECT component FROM unit WHERE key = ?", (key,)).fetchone()
        return None if row is None else int(row[0])

    def save(self, rows: Iterable[UnitRow]) -> None:
        self._database.executemany(
            "INSERT INTO unit (key, component, revision, digest, given, acknowledged) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (key) DO UPDATE SET component = excluded.component, revision = excluded.revision,"
            " digest = excluded.digest, given = excluded.given, acknowledged = excluded.acknowledged",
            [(row.key, row.component, row.revision, row.digest, row.given_ns, row.acknowledged) for row in rows],
        )

    def acknowledge(self, taken: Iterable[tuple[str, int]]) -> None:
        """Rows of key, revision; an older revision than the last one given changes nothing."""
        self._database.executemany("UPDATE unit SET acknowledged = 1 WHERE key = ? AND revision = ?", taken)

    def components_with_open_units(self) -> list[int]:
        return [
            component
            for (component,) in self._database.execute("SELECT DISTINCT component FROM unit WHERE acknowledged = 0")
        ]
