"""Stored messages and message lists back to values, each decoded once while it stays in the cache.

Equal lists come back as one shared object, so comparing and extending them stays cheap.
"""

from __future__ import annotations

import sqlite3

from collector.live.bounded_cache import BoundedCache
from collector.live.codec import decode_message
from collector.operation import Chain, Message

_ENTRY_BYTES = 600
"""What a decoded message takes beside its text, about."""


class ContentReader:
    def __init__(self, database: sqlite3.Connection, *, cache_bytes: int) -> None:
        self._database = database
        self._contents: BoundedCache[int, bytes] = BoundedCache(max_bytes=cache_bytes // 4)
        self._messages: BoundedCache[int, Message] = BoundedCache(max_bytes=cache_bytes // 4)
        self._chains: BoundedCache[int, Chain] = BoundedCache(max_bytes=cache_bytes // 2)

    def content(self, number: int) -> bytes:
        data = self._contents.get(number)
        if data is None:
            data = self._read(number)
            self._contents.put(number, data, size=len(data) + _ENTRY_BYTES)
        return data

    def message(self, number: int) -> Message:
        message = self._messages.get(number)
        return message if message is not None else self._message(number, self._read(number))

    def chain(self, number: int) -> Chain:
        unknown: list[tuple[int, int, int, bytes, bytes]] = []
        chain: Chain | None = None
        while number:
            chain = self._chains.get(number)
            if chain is not None:
                break
            row = self._database.execute(
                "SELECT node.parent, node.content, node.length, node.digest, content.data"
                " FROM node JOIN content ON content.id = node.content WHERE node.id = ?",
                (number,),
            ).fetchone()
            if row is None:
                raise sqlite3.DatabaseError(f"The message list {number} is held and is not there.")
            parent, content, length, digest, data = row
            unknown.append((number, content, length, digest, data))
            number = parent
        for own, content, length, digest, data in reversed(unknown):
            message = self._messages.get(content) or self._message(content, data)
            chain = Chain(message=message, parent=chain, digest=digest, length=length)
            self._chains.put(own, chain, size=len(data) + _ENTRY_BYTES)
        if chain is None:
            raise sqlite3.DatabaseError("A fragment holds an empty message list.")
        return chain

    def forget(self) -> None:
        self._contents.clear()
        self._messages.clear()
        self._chains.clear()

    def _message(self, number: int, data: bytes) -> Message:
        message = decode_message(data)
        self._messages.put(number, message, size=len(data) + _ENTRY_BYTES)
        return message

    def _read(self, number: int) -> bytes:
        row = self._database.execute("SELECT data FROM content WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise sqlite3.DatabaseError(f"The content {number} is held and is not there.")
        data: bytes = row[0]
        return data
