"""Brings what arrived for some traces into the tables: new fragments, link keys, components, timers.

Runs inside the caller's transaction. What is already there changes nothing, timers included, so a request that is sent
again (or read again after a crash) has no effect.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from collector.live.bounded_cache import BoundedCache
from collector.live.closure import is_closed
from collector.live.codec import References, decode_fragment, encode_fragment
from collector.live.components import Joining, KeyNumbers, LinkIndex, RecordedKeys, Union
from collector.live.content_reader import ContentReader
from collector.live.contents import Contents, release
from collector.live.kept_components import KeptComponents
from collector.live.metrics import LiveMetrics
from collector.live.pace_store import PaceStore
from collector.live.reconstruction import Reconstruction
from collector.live.settings import LiveConfig
from collector.live.store import ComponentRow, StateStore, TraceRow
from collector.messages.recent import Recent
from collector.operation import Operation

_DIGEST_BYTES = 12
_ROW_BYTES = 700
"""What a trace's row takes in memory, about."""
_OPERATION_BYTES = 3000
"""What an operation takes with its messages, about."""
_MAX_PROFILE = 200
_EXAMINED_FRAGMENTS = 1000
"""More of a trace is not read again for each arrival: that would be quadratic."""


_Stored = dict[bytes, Operation]
"""What a trace has, by digest."""


@dataclass(slots=True)
class Arrival:
    """What one batch brings for one trace."""

    first_ns: int
    last_ns: int
    operations: list[Operation] = field(default_factory=list)


@dataclass(slots=True)
class _Fragment:
    operation: Operation
    digest: bytes
    data: bytes
    references: References


@dataclass(slots=True)
class _Staged:
    """An arrival of which something is new."""

    name: str
    arrival: Arrival
    row: TraceRow | None
    fragments: list[_Fragment]
    bytes: int
    keys: KeyNumbers
    stored: _Stored | None
    """What the trace had before; None where that is too much to look at."""
    union: Union | None = None
    is_closed: bool = False
    """Nothing of the trace is open any more, as far as its spans show."""


class BatchWriter:
    def __init__(
        self,
        store: StateStore,
        contents: Contents,
        reader: ContentReader,
        paces: PaceStore,
        kept: KeptComponents,
        *,
        reconstruction: Reconstruction,
        config: LiveConfig,
        metrics: LiveMetrics,
    ) -> None:
        self._store = store
        self._contents = contents
        self._reader = reader
        self._paces = paces
        self._kept = kept
        self._links = LinkIndex(store.database)
        self._reconstruction = reconstruction
        self._config = config
        self._metrics = metrics
        self._rows: BoundedCache[str, TraceRow] = BoundedCache(max_bytes=config.cache_bytes // 8)
        # A trace comes in several batches as a rule, and each is looked at with all that came before.
        self._stored: Recent[str, _Stored] = Recent(config.cache_bytes // 8)
        self._next_trace = store.next_id("trace")
        self._next_component = store.next_id("component")

    def known(self, names: Collection[str]) -> dict[str, TraceRow]:
        """The rows of those traces that are in the state."""
        found: dict[str, TraceRow] = {}
        unknown: list[str] = []
        for name in names:
            row = self._rows.get(name)
            if row is None:
                unknown.append(name)
            else:
                found[name] = row
        if unknown:
            for row in self._store.traces_named(unknown):
                found[row.name] = row
                self._rows.put(row.name, row, size=_ROW_BYTES + len(row.keys))
        return found

    def write(self, arrivals: Mapping[str, Arrival]) -> None:
        rows = self.known(arrivals)
        components = self._store.components({row.component for row in rows.values()})
        staged: list[_Staged] = []
        for name, arrival in arrivals.items():
            found = self._stage(name, arrival, rows.get(name))
            if found is not None:
                staged.append(found)
        self._assign(staged, components)
        refused = [item for item in staged if item.row is None]
        self._save([item for item in staged if item.row is not None], components)
        self._refuse(refused)

    def forget(self) -> None:
        self._rows.clear()
        self._stored.clear()
        self._next_trace = self._store.next_id("trace")
        self._next_component = self._store.next_id("component")

    def _stage(self, name: str, arrival: Arrival, row: TraceRow | None) -> _Staged | None:
        before = self._contents.new_bytes
        stored = self._stored_of(row)
        fresh: dict[bytes, _Fragment] = {}
        for operation in arrival.operations:
            data, references = encode_fragment(operation, self._contents)
            digest = hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
            if digest not in fresh and not self._is_stored(digest, row, stored):
                fresh[digest] = _Fragment(operation, digest, data, references)
        if len(fresh) < len(arrival.operations):
            self._metrics.staged.add(self._metrics.items, "duplicate", count=len(arrival.operations) - len(fresh))
        if not fresh:
            return None
        size = self._contents.new_bytes - before + sum(len(fragment.data) for fragment in fresh.values())
        keys, closed = self._examine(row, stored, [fragment.operation for fragment in fresh.values()])
        return _Staged(
            name=name,
            arrival=arrival,
            row=row,
            fragments=list(fresh.values()),
            bytes=size,
            keys=keys,
            stored=stored,
            is_closed=closed,
        )

    def _stored_of(self, row: TraceRow | None) -> _Stored | None:
        if row is None:
            return {}
        found = self._stored.get(row.name)
        if found is None:
            rows = self._store.fragments_of_trace(row.id, limit=_EXAMINED_FRAGMENTS)
            if len(rows) == _EXAMINED_FRAGMENTS:
                return None
            found = {digest: decode_fragment(data, self._reader) for digest, data in rows}
        return found if len(found) < _EXAMINED_FRAGMENTS else None

    def _is_stored(self, digest: bytes, row: TraceRow | None, stored: _Stored | None) -> bool:
        if stored is not None:
            return digest in stored
        return row is not None and self._store.has_fragment(row.id, digest)

    def _examine(
        self, row: TraceRow | None, stored: _Stored | None, operations: list[Operation]
    ) -> tuple[KeyNumbers, bool]:
        """Link keys and end of the trace, from all that is known of it; of a huge trace, from a part of it."""
        if stored is not None:
            operations += stored.values()
        elif row is not None:
            rows = self._store.fragments_of_trace(row.id, limit=_EXAMINED_FRAGMENTS)
            operations += [decode_fragment(data, self._reader) for _, data in rows]
        return KeyNumbers.of(self._reconstruction.keys(operations)), is_closed(operations)

    def _assign(self, staged: list[_Staged], components: dict[int, ComponentRow]) -> None:
        """Give every trace its component; components that turn out to be one become one."""
        joining = [Joining(item.keys, None if item.row is None else item.row.component) for item in staged]
        found = self._links.unions(joining)
        missing = {component for union in found for component in union.components} - components.keys()
        components.update(self._store.components(missing))
        for union in found:
            self._join(union, staged, components)

    def _join(self, union: Union, staged: list[_Staged], components: dict[int, ComponentRow]) -> None:
        members = [staged[index] for index in union.members]
        if union.components:
            target = components[union.components[0]]
        else:
            first_ns = members[0].arrival.first_ns
            target = ComponentRow(id=self._next_component, due_ns=None, first_ns=first_ns, last_ns=first_ns, bytes=0)
            components[target.id] = target
            self._next_component += 1
        for source in union.components[1:]:
            gone = components.pop(source)
            self._kept.discard(source)
            for name in self._store.merge_component(source, into=target.id):
                self._rows.discard(name)
            _absorb(target, gone)
        if target.bytes > self._config.max_conversation_bytes:
            for item in members:
                item.row = None
            return
        for item in members:
            if item.row is None:
                item.row = self._new_row(item, target.id)
            item.row.component = target.id
            item.row.is_named = item.keys.is_named
            item.union = union

    def _new_row(self, item: _Staged, component: int) -> TraceRow:
        row = TraceRow(
            id=self._next_trace,
            name=item.name,
            component=component,
            first_ns=item.arrival.first_ns,
            last_ns=-1,
            ended_ns=None,
            profile="/",
            conversation_id=None,
            is_named=item.keys.is_named,
        )
        self._next_trace += 1
        return row

    def _save(self, staged: list[_Staged], components: dict[int, ComponentRow]) -> None:
        rows: list[TraceRow] = []
        touched: dict[int, ComponentRow] = {}
        fragments: list[tuple[int, bytes, bytes]] = []
        recorded: list[tuple[int, RecordedKeys]] = []
        asked: dict[tuple[int, bool], set[int]] = {}
        for item in staged:
            row, union = item.row, item.union
            if row is None or union is None:  # pragma: no cover - `_assign` gave every item both
                continue
            self._observe(row, item)
            component = components[row.component]
            touched[component.id] = component
            self._kept.changed(component.id, row.name)
            component.bytes += item.bytes
            component.first_ns = min(component.first_ns, item.arrival.first_ns)
            component.last_ns = max(component.last_ns, item.arrival.last_ns)
            due_ns = row.last_ns + int(self._wait_s(row) * 1e9)
            component.due_ns = due_ns if component.due_ns is None else min(component.due_ns, due_ns)
            on_record = union.known if item.keys.is_named else union.known_unnamed
            known = asked.setdefault((component.id, item.keys.is_named), set(on_record))
            keys = RecordedKeys.unpack(row.keys).plus(item.keys, known=known, crowded=union.crowded)
            row.keys = keys.pack()
            known |= keys.needed
            recorded.append((row.id, keys))
            for fragment in item.fragments:
                fragments.append((row.id, fragment.digest, fragment.data))
                self._contents.hold(fragment.references)
            if item.stored is not None:
                now = {**item.stored, **{fragment.digest: fragment.operation for fragment in item.fragments}}
                self._stored.put(row.name, now, size=_OPERATION_BYTES * len(now))
            rows.append(row)
            self._rows.put(row.name, row, size=_ROW_BYTES + len(row.keys))
        self._contents.flush()
        self._metrics.staged.add(self._metrics.items, "stored", count=len(fragments))
        self._store.save_traces(rows)
        self._store.add_fragments(fragments)
        self._links.record(recorded)
        self._store.save_components(touched.values())

    def _refuse(self, refused: list[_Staged]) -> None:
        """Their conversation is over its bound: nothing of them stays."""
        if not refused:
            return
        fragments = [fragment for item in refused for fragment in item.fragments]
        for fragment in fragments:
            self._contents.hold(fragment.references)
        self._contents.flush()
        release(self._store.database, [fragment.data for fragment in fragments])
        self._contents.forget()
        self._metrics.staged.add(self._metrics.items, "too_large", count=len(fragments))

    def _observe(self, row: TraceRow, item: _Staged) -> None:
        """Note who it is, whether it ended, and how long it made us wait."""
        arrival = item.arrival
        for fragment in item.fragments:
            operation = fragment.operation
            if row.conversation_id is None and operation.conversation_id:
                row.conversation_id = operation.conversation_id
            if row.profile.endswith("/"):
                agent = operation.agent.name if operation.agent is not None else None
                row.profile = f"{operation.service or ''}/{agent or ''}"[:_MAX_PROFILE]
        if row.last_ns >= 0:
            pace = self._paces.changed(row.profile)
            if row.ended_ns is not None:
                self._metrics.staged.add(self._metrics.late, count=len(item.fragments))
                pace.settle.add((arrival.first_ns - row.ended_ns) / 1e9)
            else:
                pace.gaps.add((arrival.first_ns - row.last_ns) / 1e9)
        if row.ended_ns is None and item.is_closed:
            row.ended_ns = arrival.last_ns
        row.last_ns = arrival.last_ns

    def _wait_s(self, row: TraceRow) -> float:
        pace = self._paces.of(row.profile)
        rules = self._config.readiness
        return rules.quiet.seconds(pace.settle) if row.ended_ns is not None else rules.turn_idle.seconds(pace.gaps)


def _absorb(target: ComponentRow, gone: ComponentRow) -> None:
    target.first_ns = min(target.first_ns, gone.first_ns)
    target.last_ns = max(target.last_ns, gone.last_ns)
    target.bytes += gone.bytes
    if gone.due_ns is not None:
        target.due_ns = gone.due_ns if target.due_ns is None else min(target.due_ns, gone.due_ns)
