"""Lists seen before, found again by how a longer one begins: bytes that are known are touched by a hash alone."""

from __future__ import annotations

from dataclasses import dataclass

from xxhash import xxh3_128_digest

from collector.messages.recent import Recent
from collector.operation import Chain

_HEAD_BYTES = 1024
_COMMA = ord(",")
_MAX_HEADS = 8
_HEAD_SIZE = 200
"""Roughly what Python keeps for one, in bytes."""


@dataclass(frozen=True, slots=True)
class Head:
    """A list seen before: its bytes without the closing bracket, as length and hash."""

    length: int
    hash: bytes
    key: bytes
    """The chain's among the nodes of the decoder."""
    chain: Chain


class KnownLists:
    def __init__(self, max_bytes: int) -> None:
        self._heads: Recent[bytes, list[Head]] = Recent(max_bytes)

    def place_of(self, raw: bytes, kind: bytes) -> bytes:
        """Lists of one kind that begin alike are looked for in one place."""
        return xxh3_128_digest(raw[:_HEAD_BYTES] + kind)

    def longest(self, place: bytes, body: memoryview) -> Head | None:
        """That the array begins with, where the body is what is before its closing bracket."""
        found: Head | None = None
        size = len(body)
        for head in self._heads.get(place) or ():
            length = head.length
            fits = length == size or (length < size and body[length] == _COMMA)
            if fits and (found is None or length > found.length) and xxh3_128_digest(body[:length]) == head.hash:
                found = head
        return found

    def remember(self, place: bytes, body: memoryview, *, key: bytes, chain: Chain, instead_of: Head | None) -> None:
        """A list; `instead_of` the one that it goes on from."""
        kept = [head for head in self._heads.get(place) or () if head is not instead_of][: _MAX_HEADS - 1]
        new = Head(len(body), xxh3_128_digest(body), key, chain)
        self._heads.put(place, [new, *kept], size=_HEAD_SIZE * (len(kept) + 1))
