"""Stored messages and message lists back to values, each decoded once while one conversation is looked at.

Equal lists come back as one shared object, so comparing and extending them stays cheap. Lists hold the lists before
them, so remembering some would keep whole conversations in memory: all are forgotten when the look is over, unless who
looks keeps them. Prompts and tool definitions are remembered longer, within a bound.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from collector.live.bounded_cache import BoundedCache
from collector.live.codec import decode_message
from collector.operation import Chain, Message

ValueT = TypeVar("ValueT")

_ENTRY_BYTES = 150
"""What an entry takes beside its bytes, about."""
_DECODED = 4
"""How many times its bytes a decoded value takes, about."""


@dataclass(slots=True)
class DecodedContents:
    """Messages and lists by their numbers."""

    messages: dict[int, Message] = field(default_factory=dict)
    chains: dict[int, Chain] = field(default_factory=dict)


class ContentReader:
    def __init__(self, database: sqlite3.Connection, *, cache_bytes: int) -> None:
        self._database = database
        self._values: BoundedCache[int, Any] = BoundedCache(max_bytes=cache_bytes)
        self._known = DecodedContents()

    def begin_look(self, known: DecodedContents) -> None:
        """Until `end_look`, take from these what was decoded before, and add to them."""
        self._known = known

    def value(self, number: int, decode: Callable[[bytes], ValueT]) -> ValueT:
        found: tuple[ValueT] | None = self._values.get(number)
        if found is None:
            data = self._read(number)
            found = (decode(data),)
            self._values.put(number, found, size=_DECODED * len(data) + _ENTRY_BYTES)
        return found[0]

    def message(self, number: int) -> Message:
        message = self._known.messages.get(number)
        return message if message is not None else self._message(number, self._read(number))

    def chain(self, number: int) -> Chain:
        messages, chains = self._known.messages, self._known.chains
        unknown: list[tuple[int, int, int, bytes, bytes]] = []
        chain: Chain | None = None
        while number:
            chain = chains.get(number)
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
            message = messages.get(content) or self._message(content, data)
            chain = chains[own] = Chain(message=message, parent=chain, digest=digest, length=length)
        if chain is None:
            raise sqlite3.DatabaseError("A fragment holds an empty message list.")
        return chain

    def end_look(self) -> None:
        self._known = DecodedContents()

    def forget(self) -> None:
        self.end_look()
        self._values.clear()

    def _message(self, number: int, data: bytes) -> Message:
        message = self._known.messages[number] = decode_message(data)
        return message

    def _read(self, number: int) -> bytes:
        row = self._database.execute("SELECT data FROM content WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise sqlite3.DatabaseError(f"The content {number} is held and is not there.")
        data: bytes = row[0]
        return data
