"""The operations of a component, decoded once for all the looks at it while it is lively.

A conversation is looked at after each of its turns, so what was decoded for one look is kept for the next, as far as
there is room: the component that was looked at longest ago goes first, as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from collector.live.bounded_cache import BoundedCache
from collector.live.codec import decode_fragment
from collector.live.content_reader import ContentReader, DecodedContents
from collector.live.store import ComponentRow
from collector.operation import Operation

_TIMES_BYTES = 3
_OPERATION_BYTES = 2000
"""What is decoded takes so many times the component's bytes, and so much for each operation, about."""


@dataclass(slots=True)
class _Decoded:
    contents: DecodedContents = field(default_factory=DecodedContents)
    operations: dict[bytes, Operation] = field(default_factory=dict)
    """By the fragment's bytes, which say all of it."""


class FragmentReader:
    def __init__(self, reader: ContentReader, *, cache_bytes: int) -> None:
        self._reader = reader
        self._components: BoundedCache[int, _Decoded] = BoundedCache(max_bytes=cache_bytes)

    def by_trace(self, component: ComponentRow, rows: Iterable[tuple[str, bytes]]) -> dict[str, list[Operation]]:
        """The operations in these rows of trace and fragment, which are all that the component has."""
        before = self._components.get(component.id)
        known = before.operations if before is not None else {}
        now = _Decoded(contents=before.contents if before is not None else DecodedContents())
        found: dict[str, list[Operation]] = {}
        self._reader.begin_look(now.contents)
        for name, data in rows:
            operation = known.get(data) or decode_fragment(data, self._reader)
            now.operations[data] = operation
            found.setdefault(name, []).append(operation)
        size = _TIMES_BYTES * component.bytes + _OPERATION_BYTES * len(now.operations)
        self._components.put(component.id, now, size=size)
        return found

    def forget(self) -> None:
        self._components.clear()
