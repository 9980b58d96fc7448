"""Message lists to chains, each message decoded once however often a history is replayed.

A list arrives as JSON text or as structured values, which are brought to JSON first (`list_json`), so there is one
way through:

1. The beginning of the list is looked up among lists seen before (`known_lists`): if the bytes up to a known list's end
hash to the same value, only what follows is looked at (bytes that are known are touched by the hash alone).
2. Else the array is split into raw messages without decoding them, and each is looked up by its own hash.
3. Only what is new is decoded. Equal bytes give the same `Message` object and equal lists the same `Chain` object.

What is remembered is bounded in bytes, least recently used goes first; forgetting costs time, never correctness.
JSON that was cut at its end gives the messages that are there, the last one marked truncated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import orjson
from xxhash import xxh3_128_digest

from collector.messages.digests import link
from collector.messages.known_lists import Head, KnownLists
from collector.messages.list_json import end_of_list, list_bytes, split_list
from collector.messages.recent import Recent
from collector.messages.shapes import messages_of
from collector.messages.told_results import are_asked_for, as_words
from collector.messages.truncation import mend
from collector.messages.unfinished import marked, unfinished, without_untold
from collector.messages.usual import usual_message
from collector.messages.written import untold_result
from collector.model import GapKind
from collector.operation import Chain, Message, Role
from collector.telemetry.json_text import loads

ResultT = TypeVar("ResultT")
_Read: TypeAlias = tuple[tuple[Message, ...], Message | None]
"""A message as it is read, and as a user's words where it may be no more than that."""

_MIN_KNOWN_BYTES = 2048
"""Shorter lists are split each time, which is as quick as finding out where they go on."""
_MAX_REMEMBERED = 256 * 1024
"""Of one text that is no message list."""
_NODE_BYTES = 200
_MESSAGE_BYTES = 600
"""Rough sizes of what Python keeps beside the text itself."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A message list, and what is wrong with it."""

    chain: Chain | None = None
    gaps: tuple[GapKind, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.chain.messages() if self.chain is not None else ()


_NOTHING = Decoded()


class MessageDecoder:
    """Decodes message lists and remembers them. `decoded` counts messages decoded, `reused` those found again."""

    def __init__(self, *, max_bytes: int = 32 * 1024 * 1024) -> None:
        self.decoded = 0
        self.reused = 0
        self._messages: Recent[bytes, _Read] = Recent(max_bytes // 2)
        self._nodes: Recent[bytes, Chain] = Recent(max_bytes // 4)
        self._lists = KnownLists(max_bytes // 8)
        self._readings: Recent[tuple[Callable[[object], Any], str], tuple[Any]] = Recent(max_bytes // 8)

    def read(self, value: object, *, default: Role = Role.USER) -> Decoded:
        """A list of messages, or one message, in any encoding. An absent or empty value gives no chain and no gap."""
        raw = list_bytes(value)
        if raw is None:
            text = value if isinstance(value, str) else ""
            return self._bare_text(text, default) if text.strip() else _NOTHING
        if raw[:1] != b"[":
            raw = b"[" + raw + b"]"
        return self._read_array(raw, default)

    def read_items(self, items: Iterable[object], *, default: Role = Role.USER) -> Decoded:
        """A list whose items are at hand as plain values (flattened attributes, events)."""
        return self.read(list(items), default=default)

    def read_messages(self, value: object, *, default: Role = Role.ASSISTANT) -> tuple[Message, ...]:
        """The messages of an output; see `read` for gaps."""
        return self.read(value, default=default).messages

    def once(self, read: Callable[[object], ResultT], value: object) -> ResultT:
        """`read(value)`, which is pure; remembered where the value is a text, since prompts and tools repeat."""
        if not isinstance(value, str) or len(value) > _MAX_REMEMBERED:
            return read(value)
        known = self._readings.get((read, value))
        if known is None:
            known = (read(value),)
            self._readings.put((read, value), known, size=3 * len(value) + _MESSAGE_BYTES)
        result: ResultT = known[0]
        return result

    def chain_of(self, messages: Iterable[Message]) -> Chain | None:
        """A list of messages that are already in our form."""
        return _linked(None, messages)

    def _bare_text(self, text: str, default: Role) -> Decoded:
        if text.lstrip()[:1] in ("[", "{"):
            return self._mended(text, default)
        return self._read_array(b"[" + orjson.dumps(text.encode("utf-8", "replace").decode()) + b"]", default)

    def _mended(self, text: str, default: Role) -> Decoded:
        found = mend(text.lstrip())
        items = found if isinstance(found, list) else [found]
        items[-1], is_untold = without_untold(items[-1])
        messages: list[Message] = []
        chain: Chain | None = None
        for item in filter(None, items):
            for message in _chosen(_read_message(item, default), chain):
                messages.append(message)
                chain = link(chain, message)
        self.decoded += len(messages)
        if not messages:
            return Decoded(gaps=(GapKind.UNDECODABLE,))
        messages[-1] = marked(messages[-1]) if is_untold else unfinished(messages[-1])
        return Decoded(self.chain_of(messages), ())

    def _read_array(self, raw: bytes, default: Role) -> Decoded:
        end = end_of_list(raw)
        if end < _MIN_KNOWN_BYTES:
            return self._extended(None, raw, default)[0]
        # Old bytes are touched by the hash alone, and never copied.
        body = memoryview(raw)[:end]
        place = self._lists.place_of(raw, default.encode())
        head = self._lists.longest(place, body)
        if head is not None and head.length == end:
            self.reused += head.chain.length
            return Decoded(head.chain)
        rest = raw if head is None else b"[" + raw[head.length + 1 : end] + b"]"
        found, key = self._extended(head, rest, default)
        if found.chain is not None:
            self._lists.remember(place, body, key=key, chain=found.chain, instead_of=head)
        return found

    def _extended(self, head: Head | None, raw: bytes, default: Role) -> tuple[Decoded, bytes]:
        """The list that the array's messages make of a list that is known, and its key among the nodes."""
        chain, key = (head.chain, head.key) if head is not None else (None, b"")
        self.reused += chain.length if chain is not None else 0
        items = split_list(raw)
        if items is None:
            return Decoded(gaps=(GapKind.UNDECODABLE,)), key
        for item in items:
            chain, key = self._append(chain, key, bytes(item), default)
        return (Decoded(chain) if chain is not None else _NOTHING), key

    def _append(self, chain: Chain | None, key: bytes, raw: bytes, default: Role) -> tuple[Chain | None, bytes]:
        own = xxh3_128_digest(raw if b'"role"' in raw else raw + default.encode())
        key = xxh3_128_digest(key + own)
        read = self._messages.get(own)
        if read is None:
            read = _decode_message(raw, default)
            self.decoded += 1
            self._messages.put(own, read, size=len(raw) + _MESSAGE_BYTES)
        else:
            self.reused += 1
        node = self._nodes.get(key)
        messages = _chosen(read, chain)
        if node is None and messages:
            chain = _linked(chain, messages)
            if chain is not None:
                self._nodes.put(key, chain, size=_NODE_BYTES)
            return chain, key
        return (node if messages else chain), key


def _linked(chain: Chain | None, messages: Iterable[Message]) -> Chain | None:
    for message in messages:
        for own in untold_result(chain, message):
            chain = link(chain, own)
    return chain


def _decode_message(raw: bytes, default: Role) -> _Read:
    try:
        value = loads(raw)
    except (ValueError, RecursionError):
        return (), None
    usual = usual_message(value)
    return ((usual,), None) if usual is not None else _read_message(value, default)


def _read_message(value: object, default: Role) -> _Read:
    messages = messages_of(value, default=default)
    return messages, as_words(value, messages, default=default)


def _chosen(read: _Read, before: Chain | None) -> tuple[Message, ...]:
    messages, words = read
    return messages if words is None or are_asked_for(messages, before) else (words,)
