"""Keys by which traces that may belong together find each other; what does belong together says `assembly.link`.

`link_keys(operations_of_a_trace)` says what to index. Two traces can only belong together if they share a key: index
every trace under all of `keys.provides` and `keys.needs`; when a trace arrives or grows, look up its `needs` among what
others provide and its `provides` among what others need (its own longest list first), close over what was found, and
run `link` on the operations of those traces. `needs` holds at most `MAX_NEEDS` lists of a call, the longest, so a
conversation's index stays linear in its length. Traces that share no key need never be looked at together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xxhash import xxh3_128_digest, xxh3_128_intdigest

from collector.assembly.around import settled
from collector.assembly.evidence import (
    LINKING,
    MAX_NEEDS,
    answering_key,
    asked_ids,
    goes_unanswered,
    is_beginning,
    is_id,
    is_open,
    is_reply,
    last_reply_in,
    pending_key,
    reply_key,
    said_beside_calls,
    whole_of,
    without_calls,
)
from collector.messages.recent import Recent
from collector.operation import Chain, Operation, OperationKind, Role, ToolCallPart, ToolResultPart


@dataclass(frozen=True, slots=True)
class LinkKeys:
    """What a trace can be found by, and what it looks for; 16 bytes each, the service is in them."""

    conversation_ids: frozenset[str]
    ids: frozenset[bytes]
    """Keys of ids, among `provides` and `needs`: these join whoever shares them."""
    provides: frozenset[bytes]
    needs: tuple[bytes, ...]


class Histories:
    """What was found in the histories seen lately: of one that goes on from them, only what it adds is walked over."""

    def __init__(self, *, max_bytes: int = 4 * 1024 * 1024) -> None:
        self._known: Recent[tuple[int, str | None], tuple[Chain, _Found]] = Recent(max_bytes)

    def keys(self, chain: Chain, keys: _Keys) -> _Found:
        fresh: list[Chain] = []
        found = _NOTHING
        node: Chain | None = chain
        calls = replies = 0
        while node is not None and (calls < MAX_NEEDS or replies < MAX_NEEDS):
            known = self._known.get((id(node), keys.service))
            if known is not None:
                found = known[1]
                break
            fresh.append(node)
            calls += len(node.message.parts)
            replies += node.message.role is Role.ASSISTANT
            node = node.parent
        if fresh:
            found = _added(fresh, keys, found)
            # The list is held, so that its identity cannot be another one's.
            self._known.put((id(chain), keys.service), (chain, found), size=_ENTRY_BYTES)
        return found


def link_keys(operations: Iterable[Operation], *, histories: Histories | None = None) -> LinkKeys:
    """See the head of this module. Who asks for many traces should keep the histories."""
    collected = _Collected(histories or Histories())
    for operation in settled(operations):
        collected.add(operation)
    return LinkKeys(
        conversation_ids=frozenset(collected.names),
        ids=frozenset(collected.ids),
        provides=frozenset(collected.provides),
        needs=tuple(collected.needs),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """Keys in a history, latest first, `MAX_NEEDS` calls and replies at most."""

    calls: tuple[bytes, ...] = ()
    lists: tuple[bytes, ...] = ()
    """Two for each reply: of the list that it ends, and of the one that it answers."""


_NOTHING = _Found()
_ENTRY_BYTES = 2500
"""What is known of one history takes this, about."""


def _added(fresh: Iterable[Chain], keys: _Keys, before: _Found) -> _Found:
    """What these lists, latest first, add to what is known of the list that they go on from."""
    calls: list[bytes] = []
    lists: list[bytes] = []
    for node in fresh:
        message = node.message
        if is_reply(node):
            lists.append(keys.list(node))
            lists.append(keys.open(node.parent) if node.parent is not None else lists[-1])
            said = said_beside_calls(node)
            lists += [keys.list(said)] * 2 if said is not None else []
        elif goes_unanswered(node) and node.parent is not None:
            lists += [keys.open(node.parent)] * 2
        calls += [
            keys.call(part.call_id or "")
            for part in reversed(message.parts)
            if isinstance(part, (ToolCallPart, ToolResultPart)) and is_id(part.call_id)
        ]
    return _Found(
        calls=(*calls, *before.calls)[:MAX_NEEDS],
        lists=(*lists, *before.lists)[: 2 * MAX_NEEDS],
    )


class _Collected:
    def __init__(self, histories: Histories) -> None:
        self.names: set[str] = set()
        self.ids: set[bytes] = set()
        self.provides: set[bytes] = set()
        self.needs: dict[bytes, None] = {}
        self._histories = histories
        self._services: dict[str | None, _Keys] = {}

    def add(self, operation: Operation) -> None:
        keys = self._services.get(operation.service)
        if keys is None:
            keys = self._services[operation.service] = _Keys(operation.service)
        self._add_ids(operation, keys)
        if operation.kind is OperationKind.TOOL and is_id(operation.call_id):
            self.needs[keys.call(operation.call_id or "")] = None
        if operation.kind in LINKING:
            self._add_provided(operation, keys)
            answering = answering_key(operation)
            if answering is not None:
                self.needs[answering] = None
            if operation.input is not None:
                found = self._histories.keys(operation.input, keys)
                self.needs.update(dict.fromkeys(found.calls))
                self.needs.update(dict.fromkeys(found.lists))
                if is_beginning(operation):
                    self.needs[keys.open(operation.input)] = None
                latest = last_reply_in(operation.input)
                if latest is not None:
                    self.needs[keys.reply(latest.message.digest)] = None

    def _add_ids(self, operation: Operation, keys: _Keys) -> None:
        if operation.conversation_id is not None:
            self.names.add(operation.conversation_id)
        for identity in (operation.conversation_id, operation.response_id):
            if identity:
                key = keys.identity(identity)
                self.ids.add(key)
                self.provides.add(key)
                self.needs[key] = None
        if operation.previous_response_id:
            key = keys.identity(operation.previous_response_id)
            self.ids.add(key)
            self.needs[key] = None

    def _add_provided(self, operation: Operation, keys: _Keys) -> None:
        self.provides.update(map(keys.call, asked_ids(operation.output)))
        whole = whole_of(operation)
        if whole is not None:
            key = keys.list(whole)
            self.provides.add(key)
            self.needs[key] = None  # the same call, seen by a second instrumentation
            self.provides.update(map(keys.list, without_calls(whole)))
        if is_open(operation) and operation.input is not None:
            self.provides.add(keys.open(operation.input))
        reply = reply_key(operation)
        if reply is not None:
            self.provides.add(keys.reply(reply))
        pending = pending_key(operation)
        if pending is not None:
            self.provides.add(pending)


class _Keys:
    """Keys within one service. Not for deciding anything, so they need not withstand somebody who wants them equal."""

    def __init__(self, service: str | None) -> None:
        self.service = service
        name = (service or "").encode("utf-8", "surrogatepass")
        head = len(name).to_bytes(4, "big") + name
        self._identity = b"id" + head
        self._call = b"call" + head
        self._list = xxh3_128_intdigest(b"list" + head)
        self._open = xxh3_128_intdigest(b"open" + head)
        self._reply = xxh3_128_intdigest(b"said" + head)

    def identity(self, value: str) -> bytes:
        return xxh3_128_digest(self._identity + value.encode("utf-8", "surrogatepass"))

    def call(self, value: str) -> bytes:
        return xxh3_128_digest(self._call + value.encode("utf-8", "surrogatepass"))

    def reply(self, digest: bytes) -> bytes:
        return (int.from_bytes(digest, "big") ^ self._reply).to_bytes(16, "big")

    def list(self, chain: Chain) -> bytes:
        """A list's digest is one already; that it is a list, and of which service, is put upon it."""
        return (int.from_bytes(chain.digest, "big") ^ self._list).to_bytes(16, "big")

    def open(self, chain: Chain) -> bytes:
        return (int.from_bytes(chain.digest, "big") ^ self._open).to_bytes(16, "big")
