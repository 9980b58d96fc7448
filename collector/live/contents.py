"""Messages, message lists and whatever else repeats: each stored once, found by its content, freed with its last use.

The digest that finds a content is over all of its bytes, so two sightings of one message that differ in anything are
two contents, and what is read back is exactly what was written, whoever came first. A message list is a node: its last
message and the node before it. A list of 400 turns that is replayed 400 times is 400 turns' worth of rows.

Writes are collected and go to the database with `flush`, in the caller's transaction. Lists that were seen lately are
known by identity (the decoder shares them), so replayed history costs nothing here.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from collector.live.bounded_cache import BoundedCache
from collector.live.codec import References, encode_message, references_of
from collector.messages.recent import Recent
from collector.operation import Chain, Message

_DIGEST_BYTES = 16
_NODE_BYTES = 1000
"""A list's last message and its node, about; the messages are shared with the decoder."""
_ENTRY_BYTES = 200
"""What a cache entry takes beside its content, about."""


@dataclass(frozen=True, slots=True)
class _KnownChain:
    chain: Chain
    """Held, so that its identity cannot be taken by another one."""
    number: int
    bytes: int
    """With everything before it."""


class Contents:
    """The writing side."""

    def __init__(self, database: sqlite3.Connection, *, cache_bytes: int) -> None:
        self._database = database
        self._numbers: Recent[bytes, int] = Recent(cache_bytes // 4)
        self._edges: Recent[tuple[int, int], int] = Recent(cache_bytes // 4)
        self._chains: BoundedCache[int, _KnownChain] = BoundedCache(max_bytes=cache_bytes // 4)
        # By identity: whoever reads telemetry gives equal things as one object.
        self._objects: Recent[int, tuple[object, int]] = Recent(cache_bytes // 4)
        # Found here until they are in the database, whatever the caches forget.
        self._new_contents: dict[bytes, tuple[int, bytes]] = {}
        self._new_nodes: dict[tuple[int, int], tuple[int, Chain]] = {}
        self._content_refs: Counter[int] = Counter()
        self._node_refs: Counter[int] = Counter()
        self._next_content = self._first_new_content = self._next("content")
        self._next_node = self._first_new_node = self._next("node")
        self.new_bytes = 0
        """Bytes of new content since the start, for accounts of who brought how much."""

    def message(self, message: Message) -> int:
        return self.shared(message, encode_message)

    def shared(self, value: object, encode: Callable[[Any], bytes]) -> int:
        known = self._objects.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        data = encode(value)
        number = self.content(data)
        self._objects.put(id(value), (value, number), size=2 * len(data) + _ENTRY_BYTES)
        return number

    def content(self, data: bytes) -> int:
        digest = hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
        number = self._numbers.get(digest)
        if number is None:
            number = self._known_content(digest) or self._new_content(digest, data)
            self._numbers.put(digest, number, size=_ENTRY_BYTES)
        return number

    def chain(self, chain: Chain) -> int:
        # From the end back to the first list that is known, then forward again.
        unknown: list[Chain] = []
        number = size = 0
        node: Chain | None = chain
        while node is not None:
            known = self._chains.get(id(node))
            if known is not None:
                number, size = known.number, known.bytes
                break
            unknown.append(node)
            node = node.parent
        if not unknown:
            return number
        for longer in reversed(unknown):
            number = self._node(number, self.message(longer.message), longer)
            size += _NODE_BYTES
        if node is not None:
            # The longer list holds the shorter one in memory, so it takes over its place and its bytes.
            self._chains.discard(id(node))
        self._chains.put(id(chain), _KnownChain(chain, number, size), size=size)
        return number

    def hold(self, references: References) -> None:
        """A fragment that was really new holds these."""
        self._content_refs.update(references.contents)
        self._node_refs.update(references.nodes)

    def flush(self) -> None:
        """Write what is new, in the caller's transaction."""
        content_refs, node_refs = self._content_refs, self._node_refs
        write = self._database.executemany
        contents = [(n, digest, content_refs.pop(n, 0), data) for digest, (n, data) in self._new_contents.items()]
        write("INSERT INTO content (id, digest, refs, data) VALUES (?, ?, ?, ?)", contents)
        nodes = [
            (n, parent, content, node_refs.pop(n, 0), chain.length, chain.digest)
            for (parent, content), (n, chain) in self._new_nodes.items()
        ]
        write("INSERT INTO node (id, parent, content, refs, length, digest) VALUES (?, ?, ?, ?, ?, ?)", nodes)
        write("UPDATE content SET refs = refs + ? WHERE id = ?", [(refs, n) for n, refs in content_refs.items()])
        write("UPDATE node SET refs = refs + ? WHERE id = ?", [(refs, n) for n, refs in node_refs.items()])
        self._forget_new()

    def roll_back(self) -> None:
        """The transaction failed: forget everything that may not be in the database."""
        self._next_content = self._next("content")
        self._next_node = self._next("node")
        self._forget_new()
        self.forget()

    def forget(self) -> None:
        self._objects.clear()
        self._numbers.clear()
        self._edges.clear()
        self._chains.clear()

    def _node(self, parent: int, content: int, chain: Chain) -> int:
        number = self._edges.get((parent, content))
        if number is None:
            number = self._known_node(parent, content) or self._new_node(parent, content, chain)
            self._edges.put((parent, content), number, size=_ENTRY_BYTES)
        return number

    def _known_content(self, digest: bytes) -> int | None:
        new = self._new_contents.get(digest)
        if new is not None:
            return new[0]
        row = self._database.execute("SELECT id FROM content WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else int(row[0])

    def _known_node(self, parent: int, content: int) -> int | None:
        new = self._new_nodes.get((parent, content))
        if new is not None:
            return new[0]
        if content >= self._first_new_content or parent >= self._first_new_node:
            return None
        row = self._database.execute(
            "SELECT id FROM node WHERE parent = ? AND content = ?", (parent, content)
        ).fetchone()
        return None if row is None else int(row[0])

    def _new_content(self, digest: bytes, data: bytes) -> int:
        number = self._next_content
        self._next_content += 1
        self._new_contents[digest] = (number, data)
        self.new_bytes += len(data)
        return number

    def _new_node(self, parent: int, content: int, chain: Chain) -> int:
        number = self._next_node
        self._next_node += 1
        self._new_nodes[parent, content] = (number, chain)
        self._content_refs[content] += 1
        if parent:
            self._node_refs[parent] += 1
        return number

    def _forget_new(self) -> None:
        self._new_contents = {}
        self._new_nodes = {}
        self._content_refs = Counter()
        self._node_refs = Counter()
        self._first_new_content = self._next_content
        self._first_new_node = self._next_node

    def _next(self, table: str) -> int:
        (last,) = self._database.execute(f"SELECT max(id) FROM {table}").fetchone()  # noqa: S608 - our own constants
        return int(last or 0) + 1


def release(database: sqlite3.Connection, fragments: Iterable[bytes]) -> None:
    """These fragments are gone: free what nobody holds any more, in the caller's transaction.

    The caller forgets its caches: numbers may be used again.
    """
    content_refs: Counter[int] = Counter()
    node_refs: Counter[int] = Counter()
    for data in fragments:
        references = references_of(data)
        content_refs.update(references.contents)
        node_refs.update(references.nodes)
    while node_refs:
        freed = _drop(database, "node", "parent, content", node_refs)
        content_refs.update(content for _, content in freed)
        # A list that went held the list before it.
        node_refs = Counter(parent for parent, _ in freed if parent)
    _drop(database, "content", "id", content_refs)


def _drop(database: sqlite3.Connection, table: str, columns: str, refs: Counter[int]) -> list[tuple[int, ...]]:
    # The names are this module's own constants.
    database.executemany(
        f"UPDATE {table} SET refs = refs - ? WHERE id = ?",  # noqa: S608
        [(count, number) for number, count in refs.items()],
    )
    freed: list[tuple[int, ...]] = []
    for number in refs:
        freed += database.execute(
            f"DELETE FROM {table} WHERE id = ? AND refs <= 0 RETURNING {columns}",  # noqa: S608
            (number,),
        ).fetchall()
    return freed
