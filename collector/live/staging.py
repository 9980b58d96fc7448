"""What of an arrival is new: its fragments as they will be stored, and what the trace is with them.

A fragment is known by its digest, so what is sent or read again is found here and goes no further.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from collector.live.arrival import Arrival
from collector.live.closure import is_closed
from collector.live.codec import References, decode_fragment, encode_fragment
from collector.live.components import KeyNumbers, Union
from collector.live.content_reader import ContentReader
from collector.live.contents import Contents
from collector.live.metrics import LiveMetrics
from collector.live.reconstruction import Reconstruction
from collector.live.store import StateStore, TraceRow
from collector.messages.recent import Recent
from collector.operation import Operation

_DIGEST_BYTES = 12
_OPERATION_BYTES = 3000
"""What an operation takes with its messages, about."""
_EXAMINED_FRAGMENTS = 1000
"""More of a trace is not read again for each arrival: that would be quadratic."""


_Stored = dict[bytes, Operation]
"""What a trace has, by digest."""


@dataclass(slots=True)
class Fragment:
    operation: Operation
    digest: bytes
    data: bytes
    references: References


@dataclass(slots=True)
class Staged:
    """An arrival of which something is new."""

    name: str
    arrival: Arrival
    row: TraceRow | None
    fragments: list[Fragment]
    bytes: int
    keys: KeyNumbers
    stored: _Stored | None
    """What the trace had before; None where that is too much to look at."""
    union: Union | None = None
    is_closed: bool = False
    """Nothing of the trace is open any more, as far as its spans show."""


class Staging:
    def __init__(
        self,
        store: StateStore,
        contents: Contents,
        reader: ContentReader,
        *,
        reconstruction: Reconstruction,
        cache_bytes: int,
        metrics: LiveMetrics,
    ) -> None:
        self._store = store
        self._contents = contents
        self._reader = reader
        self._reconstruction = reconstruction
        self._metrics = metrics
        # A trace comes in several batches as a rule, and each is looked at with all that came before.
        self._stored: Recent[str, _Stored] = Recent(cache_bytes)

    def stage(self, name: str, arrival: Arrival, row: TraceRow | None) -> Staged | None:
        """None where all of it is there already."""
        before = self._contents.new_bytes
        stored = self._stored_of(row)
        fresh: dict[bytes, Fragment] = {}
        for operation in arrival.operations:
            data, references = encode_fragment(operation, self._contents)
            digest = hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
            if digest not in fresh and not self._is_stored(digest, row, stored):
                fresh[digest] = Fragment(operation, digest, data, references)
        if len(fresh) < len(arrival.operations):
            self._metrics.staged.add(self._metrics.items, "duplicate", count=len(arrival.operations) - len(fresh))
        if not fresh:
            return None
        size = self._contents.new_bytes - before + sum(len(fragment.data) for fragment in fresh.values())
        keys, closed = self._examine(row, stored, [fragment.operation for fragment in fresh.values()])
        return Staged(
            name=name,
            arrival=arrival,
            row=row,
            fragments=list(fresh.values()),
            bytes=size,
            keys=keys,
            stored=stored,
            is_closed=closed,
        )

    def saved(self, item: Staged) -> None:
        """Its fragments are stored now."""
        if item.stored is not None:
            now = {**item.stored, **{fragment.digest: fragment.operation for fragment in item.fragments}}
            self._stored.put(item.name, now, size=_OPERATION_BYTES * len(now))

    def forget(self) -> None:
        self._stored.clear()

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
