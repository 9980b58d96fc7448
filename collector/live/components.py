"""Which component each trace of a batch belongs to: the union of all that may belong together, whatever the order.

Ids join whoever shares them, so one trace stands for all. Lists and calls (what traces provide and need) join only
where one side is not named, so every provider is kept, and every need that its component neither meets nor is on
record for: that is enough to find the same unions in any order of arrival, and it grows linearly with a conversation
however much history each turn repeats.

A greeting that many conversations share says nothing about who belongs together: a key with more than `MAX_SHARING`
traces joins no further ones.
"""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from collector.live.reconstruction import TraceKeys

MAX_SHARING = 32

Node = tuple[str, int]
_Side = tuple[Node, bool]
"""A trace or component that provides or needs a key, and whether the trace is named."""


def key_number(key: bytes) -> int:
    """64 bits of a key, which is a digest. Two keys with one number only make a component larger than it need be."""
    return int.from_bytes(key[:8], "big", signed=True)


@dataclass(frozen=True, slots=True)
class KeyNumbers:
    ids: frozenset[int]
    provides: frozenset[int]
    needs: frozenset[int]
    is_named: bool

    @classmethod
    def of(cls, keys: TraceKeys) -> KeyNumbers:
        return cls(
            ids=frozenset(map(key_number, keys.ids)),
            provides=frozenset(map(key_number, keys.provides)),
            needs=frozenset(map(key_number, keys.needs)),
            is_named=keys.is_named,
        )


@dataclass(frozen=True, slots=True)
class RecordedKeys:
    """Which rows of the index a trace has, so that they can go with it."""

    ids: frozenset[int] = frozenset()
    provided: frozenset[int] = frozenset()
    needed: frozenset[int] = frozenset()

    def plus(self, keys: KeyNumbers, *, known: Collection[int], crowded: frozenset[int]) -> RecordedKeys:
        return RecordedKeys(
            ids=self.ids | keys.ids,
            provided=self.provided | (keys.provides - crowded),
            needed=self.needed | keys.needs.difference(known, crowded),
        )

    def pack(self) -> bytes:
        groups = (self.ids, self.provided, self.needed)
        numbers = [number for group in groups for number in sorted(group)]
        return struct.pack(f"<3I{len(numbers)}q", *map(len, groups), *numbers)

    @classmethod
    def unpack(cls, data: bytes) -> RecordedKeys:
        if not data:
            return cls()
        ids, provided, needed = struct.unpack_from("<3I", data)
        numbers = struct.unpack_from(f"<{ids + provided + needed}q", data, 12)
        return cls(
            ids=frozenset(numbers[:ids]),
            provided=frozenset(numbers[ids : ids + provided]),
            needed=frozenset(numbers[ids + provided :]),
        )


@dataclass(slots=True)
class Joining:
    """A trace that is to find its component."""

    keys: KeyNumbers
    own: int | None
    """The component it is in already."""


@dataclass(frozen=True, slots=True)
class Union:
    """Traces of the batch, by index, and the components that turn out to be one."""

    members: tuple[int, ...]
    components: tuple[int, ...]
    known: frozenset[int]
    """Keys that the union provides, or is on record as needing: who brings them later finds the union by them."""
    known_unnamed: frozenset[int]
    """Those known by a trace that is not named; only these will do for another one that is not."""
    crowded: frozenset[int]
    """Keys that too many traces share to say anything."""


@dataclass(slots=True)
class _Forest:
    parent: dict[Node, Node] = field(default_factory=dict)

    def find(self, node: Node) -> Node:
        root = node
        while self.parent.setdefault(root, root) != root:
            root = self.parent[root]
        while self.parent[node] != root:
            self.parent[node], node = root, self.parent[node]
        return root

    def join(self, one: Node, two: Node) -> None:
        self.parent[self.find(one)] = self.find(two)


class LinkIndex:
    """The tables `link_id`, `link_provided` and `link_needed`; writes belong to the caller's transaction."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def unions(self, traces: Sequence[Joining]) -> list[Union]:
        forest = _Forest()
        for index, trace in enumerate(traces):
            forest.find(("trace", index))
            if trace.own is not None:
                forest.join(("trace", index), ("component", trace.own))
            for key in trace.keys.ids:
                forest.join(("trace", index), ("id", key))
        for key, component in self._components_by_id({key for trace in traces for key in trace.keys.ids}):
            forest.join(("id", key), ("component", component))
        offered, asked = self._known("link_provided", traces), self._known("link_needed", traces)
        # No more rows for these: what too many share is not even looked at.
        crowded = frozenset(key for sides in (offered, asked) for key in sides if len(sides[key]) > MAX_SHARING)
        known = [(key, side) for sides in (offered, asked) for key in sides for side in sides[key]]
        for index, trace in enumerate(traces):
            side = (("trace", index), trace.keys.is_named)
            for key in trace.keys.provides:
                offered.setdefault(key, []).append(side)
                known.append((key, side))
            for key in trace.keys.needs:
                asked.setdefault(key, []).append(side)
        for key, offering in offered.items():
            if len(offering) <= MAX_SHARING:
                _join_sharing(offering, asked.get(key, ()), forest)
        return _collect(forest, known, crowded)

    def record(self, rows: Iterable[tuple[int, RecordedKeys]]) -> None:
        """Rows of trace and its keys; what is recorded already stays."""
        ids: list[tuple[int, int]] = []
        provided: list[tuple[int, int]] = []
        needed: list[tuple[int, int]] = []
        for trace, keys in rows:
            ids += [(key, trace) for key in keys.ids]
            provided += [(key, trace) for key in keys.provided]
            needed += [(key, trace) for key in keys.needed]
        write = self._database.executemany
        write("INSERT OR IGNORE INTO link_id (key, trace) VALUES (?, ?)", ids)
        write("INSERT OR IGNORE INTO link_provided (key, trace) VALUES (?, ?)", provided)
        write("INSERT OR IGNORE INTO link_needed (key, trace) VALUES (?, ?)", needed)

    def forget_trace(self, trace: int, keys: RecordedKeys) -> None:
        """The trace is gone, and with it everything in its component."""
        write = self._database.executemany
        write("DELETE FROM link_id WHERE key = ?", [(key,) for key in keys.ids])
        write("DELETE FROM link_provided WHERE key = ? AND trace = ?", [(key, trace) for key in keys.provided])
        write("DELETE FROM link_needed WHERE key = ? AND trace = ?", [(key, trace) for key in keys.needed])

    def _components_by_id(self, keys: Collection[int]) -> list[tuple[int, int]]:
        return self._database.execute(
            "SELECT link_id.key, trace.component FROM json_each(?) AS wanted"
            " CROSS JOIN link_id ON link_id.key = wanted.value CROSS JOIN trace ON trace.id = link_id.trace",
            (json.dumps(list(keys)),),
        ).fetchall()

    def _known(self, table: str, traces: Sequence[Joining]) -> dict[int, list[_Side]]:
        """Who is on record for the keys that these traces provide or need."""
        keys = {key for trace in traces for key in (*trace.keys.provides, *trace.keys.needs)}
        found: dict[int, list[_Side]] = {}
        for key, component, is_named in self._database.execute(
            f"SELECT link.key, trace.component, trace.named FROM json_each(?) AS wanted"  # noqa: S608 - our own names
            f" CROSS JOIN {table} AS link ON link.key = wanted.value CROSS JOIN trace ON trace.id = link.trace",
            (json.dumps(list(keys)),),
        ):
            found.setdefault(key, []).append((("component", component), bool(is_named)))
        return found


def _join_sharing(offering: Sequence[_Side], asking: Sequence[_Side], forest: _Forest) -> None:
    """Providers with each other and with those who need it, wherever one of both is not named."""
    unnamed = next((node for node, is_named in offering if not is_named), None)
    if unnamed is not None:
        for node, _ in (*offering, *asking):
            forest.join(node, unnamed)
        return
    for node, is_named in asking:
        if not is_named:
            for other, _ in offering:
                forest.join(node, other)


def _collect(forest: _Forest, known: Iterable[tuple[int, _Side]], crowded: frozenset[int]) -> list[Union]:
    groups: dict[Node, list[Node]] = {}
    for node in list(forest.parent):
        groups.setdefault(forest.find(node), []).append(node)
    every: dict[Node, set[int]] = {}
    unnamed: dict[Node, set[int]] = {}
    for key, (node, is_named) in known:
        root = forest.find(node)
        every.setdefault(root, set()).add(key)
        if not is_named:
            unnamed.setdefault(root, set()).add(key)
    return [
        Union(
            members=tuple(sorted(number for kind, number in nodes if kind == "trace")),
            components=tuple(sorted(number for kind, number in nodes if kind == "component")),
            known=frozenset(every.get(root, ())),
            known_unnamed=frozenset(unnamed.get(root, ())),
            crowded=crowded,
        )
        for root, nodes in groups.items()
        if any(kind == "trace" for kind, _ in nodes)
    ]
