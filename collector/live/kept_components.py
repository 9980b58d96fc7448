"""The components that were looked at lately, with what was made of them, so that the next look makes only what is new.

A conversation is looked at after each of its turns. What was decoded and put together for one look is kept for the
next, as far as there is room: the component that was looked at longest ago goes first, as a whole. Whoever writes
fragments says so here, so that those of the other traces need not even be read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from collector.live.bounded_cache import BoundedCache
from collector.live.closure import is_closed
from collector.live.codec import decode_fragment
from collector.live.content_digest import TurnDigests
from collector.live.content_reader import ContentReader, DecodedContents
from collector.live.reconstruction import Assembling, Reconstruction
from collector.live.store import ComponentRow, StateStore, TraceRow
from collector.model import Conversation
from collector.operation import Operation

_TIMES_BYTES = 3
_OPERATION_BYTES = 4000
"""What is known of a component takes so many times its bytes, and so much for each operation, about."""


class KeptComponent:
    def __init__(self, assembling: Assembling) -> None:
        self.contents = DecodedContents()
        self.stale: set[str] = set()
        """Traces of which fragments were written since they were read."""
        self._fragments: dict[str, dict[bytes, Operation]] = {}
        """By trace, and by the fragment's digest."""
        self._traces: dict[str, tuple[Operation, ...]] = {}
        self._assembling = assembling
        self._closed: dict[str, bool] = {}
        self._digests: dict[str, TurnDigests] = {}

    def __len__(self) -> int:
        return sum(map(len, self._traces.values()))

    def unread(self, traces: Iterable[TraceRow]) -> list[TraceRow]:
        """Those whose fragments are not known, or not all of them."""
        return [row for row in traces if row.name not in self._traces or row.name in self.stale]

    def read(self, trace: str, fragments: Iterable[tuple[bytes, bytes]], reader: ContentReader) -> None:
        """These rows of digest, data are all that the trace has."""
        known = self._fragments.get(trace, {})
        now = {digest: known.get(digest) or decode_fragment(data, reader) for digest, data in fragments}
        self._fragments[trace] = now
        self._traces[trace] = tuple(now.values())
        self._closed.pop(trace, None)
        self.stale.discard(trace)

    def conversations(self) -> Sequence[tuple[Conversation, Sequence[Operation]]]:
        return self._assembling.conversations(self._traces.values())

    def release(self) -> None:
        """It is not used any more."""
        self._assembling.release()

    def is_closed(self, trace: str) -> bool:
        """See `closure`."""
        found = self._closed.get(trace)
        if found is None:
            found = self._closed[trace] = is_closed(self._traces.get(trace, ()))
        return found

    def turn_digests(self, conversation: Conversation) -> list[bytes]:
        return self._digests.setdefault(conversation.key, TurnDigests()).of(conversation.turns)


class KeptComponents:
    def __init__(
        self, store: StateStore, reader: ContentReader, *, reconstruction: Reconstruction, cache_bytes: int
    ) -> None:
        self._store = store
        self._reader = reader
        self._reconstruction = reconstruction
        self._cache_bytes = cache_bytes
        self._known: BoundedCache[int, KeptComponent] = BoundedCache(
            max_bytes=cache_bytes, on_gone=KeptComponent.release
        )

    def take(self, component: ComponentRow, traces: Iterable[TraceRow]) -> KeptComponent:
        """The component with everything that these traces, all that it has, hold now. To be kept by who looks at it,
        unless that failed: what was half made is used for nothing more.
        """
        found = self._known.take(component.id)
        kept = found or KeptComponent(self._reconstruction.assembling())
        self._reader.begin_look(kept.contents)
        if found is None:
            fragments: dict[str, list[tuple[bytes, bytes]]] = {}
            for name, digest, data in self._store.fragments_of(component.id):
                fragments.setdefault(name, []).append((digest, data))
            for name, every in fragments.items():
                kept.read(name, every, self._reader)
        else:
            for row in found.unread(traces):
                kept.read(row.name, self._store.fragments_of_trace(row.id), self._reader)
        return kept

    def keep(self, component: ComponentRow, kept: KeptComponent) -> None:
        """Unless it is so large that it would take the room of all others, and as much again."""
        size = _TIMES_BYTES * component.bytes + _OPERATION_BYTES * len(kept)
        if size <= 2 * self._cache_bytes:
            self._known.put(component.id, kept, size=size)
        else:
            kept.release()

    def changed(self, component: int, trace: str) -> None:
        """Fragments of the trace are being written."""
        kept = self._known.get(component)
        if kept is not None:
            kept.stale.add(trace)

    def discard(self, component: int) -> None:
        """It is part of another one now."""
        self._known.discard(component)

    def forget(self) -> None:
        self._known.clear()
