"""Traces, their fragments, and the components that they form: the statements of the live state's main tables.

A component is a set of traces that share link keys, directly or over others. It is at least as large as a conversation
and is only ever merged, so it does not depend on the order of arrival. All writes belong to the caller's transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from collector.journal.protocol import Position


@dataclass(slots=True)
class TraceRow:
    id: int
    name: str
    component: int
    first_ns: int
    last_ns: int
    ended_ns: int | None
    profile: str
    conversation_id: str | None
    is_named: bool
    """It names exactly one conversation."""
    keys: bytes = b""
    """Its rows in the link tables, see `components.RecordedKeys`."""


@dataclass(slots=True)
class ComponentRow:
    id: int
    due_ns: int | None
    first_ns: int
    last_ns: int
    bytes: int


@dataclass(frozen=True, slots=True)
class StoredTime:
    stream_ns: int
    wall_ns: int


_TRACE = "id, name, component, first, last, ended, profile, conversation_id, named, keys"
_COMPONENT = "id, due, first, last, bytes"


class StateStore:
    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

    # Where the journal has been read to, and what time it was.

    def position(self) -> Position | None:
        found = self._meta("position")
        return None if found is None else Position(*json.loads(found))

    def time(self) -> StoredTime | None:
        found = self._meta("time")
        return None if found is None else StoredTime(*json.loads(found))

    def set_progress(self, *, position: Position | None, time: StoredTime) -> None:
        rows = [("time", json.dumps([time.stream_ns, time.wall_ns]))]
        if position is not None:
            rows.append(("position", json.dumps([position.segment, position.offset])))
        self.database.executemany("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", rows)

    def next_id(self, table: str) -> int:
        (last,) = self.database.execute(f"SELECT max(id) FROM {table}").fetchone()  # noqa: S608 - our own constants
        return int(last or 0) + 1

    # Traces and fragments.

    def traces_named(self, names: Collection[str]) -> list[TraceRow]:
        return self._traces("name IN (SELECT value FROM json_each(?))", json.dumps(list(names)))

    def traces_of(self, component: int) -> list[TraceRow]:
        return self._traces("component = ?", component)

    def components_matching(self, prefix: str, *, limit: int) -> list[int]:
        """Components with a trace whose conversation id or own name begins like this."""
        end = prefix + "\U0010ffff"
        found = self.database.execute(
            "SELECT component FROM trace WHERE conversation_id >= ?1 AND conversation_id < ?2"
            " UNION SELECT component FROM trace WHERE name >= ?1 AND name < ?2 LIMIT ?3",
            (prefix, end, limit),
        )
        return [component for (component,) in found]

    def components_of_conversation(self, conversation_id: str) -> list[int]:
        """By a conversation id that a span named; ids found in other ways are not looked for."""
        found = self.database.execute(
            "SELECT DISTINCT component FROM trace WHERE conversation_id = ?", (conversation_id,)
        )
        return [component for (component,) in found]

    def save_traces(self, rows: Iterable[TraceRow]) -> None:
        self.database.executemany(
            f"INSERT OR REPLACE INTO trace ({_TRACE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            [
                (
                    row.id, row.name, row.component, row.first_ns, row.last_ns, row.ended_ns, row.profile,
                    row.conversation_id, row.is_named, row.keys,
                )
                for row in rows
            ],
        )  # fmt: skip

    def has_fragment(self, trace: int, digest: bytes) -> bool:
        found = self.database.execute("SELECT 1 FROM fragment WHERE trace = ? AND digest = ?", (trace, digest))
        return found.fetchone() is not None

    def add_fragments(self, rows: Sequence[tuple[int, bytes, bytes]]) -> None:
        """Rows of trace, digest, data."""
        self.database.executemany("INSERT INTO fragment (trace, digest, data) VALUES (?, ?, ?)", rows)

    def fragments_of(self, component: int) -> list[tuple[str, bytes, bytes]]:
        """Rows of trace name, digest, data."""
        return self.database.execute(
            "SELECT trace.name, fragment.digest, fragment.data"
            " FROM trace CROSS JOIN fragment ON fragment.trace = trace.id WHERE trace.component = ?",
            (component,),
        ).fetchall()

    def fragments_of_trace(self, trace: int, *, limit: int = -1) -> list[tuple[bytes, bytes]]:
        """Rows of digest, data."""
        return self.database.execute(
            "SELECT digest, data FROM fragment WHERE trace = ? LIMIT ?", (trace, limit)
        ).fetchall()

    # Components.

    def components(self, ids: Collection[int]) -> dict[int, ComponentRow]:
        found = self.database.execute(
            f"SELECT {_COMPONENT} FROM component WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608
            (json.dumps(list(ids)),),
        )
        return {row[0]: ComponentRow(*row) for row in found}

    def due_components(self, now_ns: int, *, limit: int) -> list[ComponentRow]:
        found = self.database.execute(
            f"SELECT {_COMPONENT} FROM component WHERE due <= ? ORDER BY due LIMIT ?",  # noqa: S608
            (now_ns, limit),
        )
        return [ComponentRow(*row) for row in found]

    def next_due_ns(self) -> int | None:
        (due,) = self.database.execute("SELECT min(due) FROM component WHERE due IS NOT NULL").fetchone()
        return None if due is None else int(due)

    def save_components(self, rows: Iterable[ComponentRow]) -> None:
        self.database.executemany(
            f"INSERT OR REPLACE INTO component ({_COMPONENT}) VALUES (?, ?, ?, ?, ?)",  # noqa: S608
            [(row.id, row.due_ns, row.first_ns, row.last_ns, row.bytes) for row in rows],
        )

    def set_due(self, dues: Mapping[int, int | None]) -> None:
        self.database.executemany(
            "UPDATE component SET due = ? WHERE id = ?", [(due, component) for component, due in dues.items()]
        )

    def advance_due(self, component: int, *, due_ns: int) -> None:
        """Look at the component no later than then."""
        self.database.execute(
            "UPDATE component SET due = min(coalesce(due, ?1), ?1) WHERE id = ?2", (due_ns, component)
        )

    def merge_component(self, source: int, *, into: int) -> list[str]:
        """Move the traces and units over; the names of the traces that moved."""
        moved = [
            name
            for (name,) in self.database.execute(
                "UPDATE trace SET component = ? WHERE component = ? RETURNING name", (into, source)
            ).fetchall()
        ]
        self.database.execute("UPDATE unit SET component = ? WHERE component = ?", (into, source))
        self.database.execute("DELETE FROM component WHERE id = ?", (source,))
        return moved

    # Ends that the application marked.

    def mark_ended(self, conversation: str, *, at_ns: int) -> None:
        self.database.execute("INSERT OR REPLACE INTO ending (conversation, at) VALUES (?, ?)", (conversation, at_ns))

    def ended_ns(self, conversation: str) -> int | None:
        row = self.database.execute("SELECT at FROM ending WHERE conversation = ?", (conversation,)).fetchone()
        return None if row is None else int(row[0])

    def _traces(self, condition: str, value: object) -> list[TraceRow]:
        found = self.database.execute(f"SELECT {_TRACE} FROM trace WHERE {condition}", (value,))  # noqa: S608
        return [TraceRow(*row) for row in found]

    def _meta(self, name: str) -> str | None:
        row = self.database.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])
