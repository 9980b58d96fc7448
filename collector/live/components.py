"""Which component each trace of a batch belongs to: the union of all that may belong together, whatever the order.

Ids join whoever shares them, so one trace stands for all. Lists and calls (what traces provide and need) join only
where one side is not named, so every provider is kept, and every need that the trace's own component does not meet:
that is enough to find the same unions in any order of arrival, and in a conversation that arrives in order no need is
kept at all.

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

    def plus(self, keys: KeyNumbers, *, met: frozenset[int], crowded: frozenset[int]) -> RecordedKeys:
        return RecordedKeys(
            ids=self.ids | keys.ids,
            provided=self.provided | (keys.provides - crowded),
            needed=self.needed | (keys.needs - met - crowded),
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
    met: frozenset[int]
    """Keys that something in the union provides."""
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
        providers, crowded = self._join_lists(traces, forest)
        return _collect(forest, providers, crowded)

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

    def _join_lists(self, traces: Sequence[Joining], forest: _Forest) -> tuple[dict[int, list[_Side]], frozenset[int]]:
        provided = {key for trace in traces for key in trace.keys.provides}
        needed = {key for trace in traces for key in trace.keys.needs}
        providers = self._known("link_provided", provided | needed)
        needers = self._known("link_needed", provided)
        # No more rows for these: what too many share is not even looked at.
        crowded = {key for sides in (providers, needers) for key, known in sides.items() if len(known) > MAX_SHARING}
        for index, trace in enumerate(traces):
            side = (("trace", index), trace.keys.is_named)
            for key in trace.keys.provides:
                providers.setdefault(key, []).append(side)
            for key in trace.keys.needs:
                needers.setdefault(key, []).append(side)
        for key, offering in providers.items():
            if len(offering) <= MAX_SHARING:
                _join_sharing(offering, needers.get(key, ()), forest)
        return providers, frozenset(crowded)

    def _components_by_id(self, keys: Collection[int]) -> list[tuple[int, int]]:
        return self._database.execute(
            "SELECT link_id.key, trace.component FROM json_each(?) AS wanted"
            " CROSS JOIN link_id ON link_id.key = wanted.value CROSS JOIN trace ON trace.id = link_id.trace",
            (json.dumps(list(keys)),),
        ).fetchall()

    def _known(self, table: str, keys: Collection[int]) -> dict[int, list[_Side]]:
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


def _collect(forest: _Forest, providers: dict[int, list[_Side]], crowded: frozenset[int]) -> list[Union]:
    groups: dict[Node, list[Node]] = {}
    for node in list(forest.parent):
        groups.setdefault(forest.find(node), []).append(node)
    met: dict[Node, set[int]] = {}
    for key, offering in providers.items():
        for node, _ in offering:
            met.setdefault(forest.find(node), set()).add(key)
    return [
        Union(
            members=tuple(sorted(number for kind, number in nodes if kind == "trace")),
            components=tuple(sorted(number for kind, number in nodes if kind == "component")),
            met=frozenset(met.get(root, ())),
            crowded=crowded,
        )
        for root, nodes in groups.items()
        if any(kind == "trace" for kind, _ in nodes)
    ]
