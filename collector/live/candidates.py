"""Tells by their bytes which items of a request may hold GenAI telemetry: those that hold one of the dialects' markers.

Nearly all items of a service without an agent hold none, and looking for some twenty markers in each costs more than
everything else that is done with them. So the marker that was met most is looked for first, and the others in all
remaining items at once; only those that are met at all are looked for item by item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence


class CandidateFilter:
    def __init__(self, markers: Iterable[bytes]) -> None:
        known = set(markers)
        # A marker within another one says it all.
        self._markers = sorted(m for m in known if not any(other != m and other in m for other in known))
        self._usual = self._markers[0] if self._markers else b""

    def flags(self, items: Sequence[bytes]) -> list[bool]:
        """For each item, whether it holds a marker."""
        if not self._markers:
            return [False] * len(items)
        usual = self._usual
        flags = [usual in item for item in items]
        rest = [index for index, found in enumerate(flags) if not found]
        if not rest:
            return flags
        # No marker holds a zero byte, so none is met across two items.
        everything = b"\0".join([items[index] for index in rest])
        present = [marker for marker in self._markers if marker in everything]
        hits: Counter[bytes] = Counter({usual: len(items) - len(rest)})
        for index in rest if present else ():
            found = next((marker for marker in present if marker in items[index]), None)
            if found is not None:
                flags[index] = True
                hits[found] += 1
        most, count = hits.most_common(1)[0]
        if count:
            self._usual = most
        return flags
