"""Brings what arrived for some traces into the tables: new fragments, link keys, components, timers.

Runs inside the caller's transaction. What is already there changes nothing, timers included, so a request that is sent
again (or read again after a crash) has no effect.
"""

from __future__ import annotations

from collections.abc import Mapping

from collector.live.arrival import Arrival
from collector.live.components import Joining, LinkIndex, RecordedKeys, Union
from collector.live.contents import Contents, release
from collector.live.kept_components import KeptComponents
from collector.live.known_traces import KnownTraces
from collector.live.metrics import LiveMetrics
from collector.live.staging import Staged, Staging
from collector.live.store import ComponentRow, StateStore, TraceRow
from collector.live.trace_waits import TraceWaits


class BatchWriter:
    def __init__(
        self,
        store: StateStore,
        *,
        traces: KnownTraces,
        contents: Contents,
        staging: Staging,
        waits: TraceWaits,
        kept: KeptComponents,
        max_conversation_bytes: int,
        metrics: LiveMetrics,
    ) -> None:
        self._store = store
        self._traces = traces
        self._contents = contents
        self._staging = staging
        self._waits = waits
        self._kept = kept
        self._links = LinkIndex(store.database)
        self._max_bytes = max_conversation_bytes
        self._metrics = metrics
        self._next_component = store.next_id("component")

    def write(self, arrivals: Mapping[str, Arrival]) -> None:
        rows = self._traces.named(arrivals)
        components = self._store.components({row.component for row in rows.values()})
        staged: list[Staged] = []
        for name, arrival in arrivals.items():
            found = self._staging.stage(name, arrival, rows.get(name))
            if found is not None:
                staged.append(found)
        self._assign(staged, components)
        refused = [item for item in staged if item.row is None]
        self._save([item for item in staged if item.row is not None], components)
        self._refuse(refused)

    def forget(self) -> None:
        self._next_component = self._store.next_id("component")

    def _assign(self, staged: list[Staged], components: dict[int, ComponentRow]) -> None:
        """Give every trace its component; components that turn out to be one become one."""
        joining = [Joining(item.keys, None if item.row is None else item.row.component) for item in staged]
        found = self._links.unions(joining)
        missing = {component for union in found for component in union.components} - components.keys()
        components.update(self._store.components(missing))
        for union in found:
            self._join(union, staged, components)

    def _join(self, union: Union, staged: list[Staged], components: dict[int, ComponentRow]) -> None:
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
            self._traces.discard(self._store.merge_component(source, into=target.id))
            _absorb(target, gone)
        if target.bytes > self._max_bytes:
            for item in members:
                item.row = None
            return
        for item in members:
            if item.row is None:
                first_ns, is_named = item.arrival.first_ns, item.keys.is_named
                item.row = self._traces.begin(item.name, component=target.id, first_ns=first_ns, is_named=is_named)
            item.row.component = target.id
            item.row.is_named = item.keys.is_named
            item.union = union

    def _save(self, staged: list[Staged], components: dict[int, ComponentRow]) -> None:
        rows: list[TraceRow] = []
        touched: dict[int, ComponentRow] = {}
        fragments: list[tuple[int, bytes, bytes]] = []
        recorded: list[tuple[int, RecordedKeys]] = []
        asked: dict[tuple[int, bool], set[int]] = {}
        for item in staged:
            row, union = item.row, item.union
            if row is None or union is None:  # pragma: no cover - `_assign` gave every item both
                continue
            self._waits.observe(row, item)
            component = components[row.component]
            touched[component.id] = component
            self._kept.changed(component.id, row.name)
            component.bytes += item.bytes
            component.first_ns = min(component.first_ns, item.arrival.first_ns)
            component.last_ns = max(component.last_ns, item.arrival.last_ns)
            due_ns = row.last_ns + int(self._waits.wait_s(row) * 1e9)
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
            self._staging.saved(item)
            rows.append(row)
            self._traces.keep(row)
        self._contents.flush()
        self._metrics.staged.add(self._metrics.items, "stored", count=len(fragments))
        self._store.save_traces(rows)
        self._store.add_fragments(fragments)
        self._links.record(recorded)
        self._store.save_components(touched.values())

    def _refuse(self, refused: list[Staged]) -> None:
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


def _absorb(target: ComponentRow, gone: ComponentRow) -> None:
    target.first_ns = min(target.first_ns, gone.first_ns)
    target.last_ns = max(target.last_ns, gone.last_ns)
    target.bytes += gone.bytes
    if gone.due_ns is not None:
        target.due_ns = gone.due_ns if target.due_ns is None else min(target.due_ns, gone.due_ns)
