"""Keys by which traces that may belong together find each other; what does belong together says `assembly.link`.

`link_keys(operations_of_a_trace)` says what to index. Two traces can only belong together if they share a key: index
every trace under all of `keys.provides` and `keys.needs`; when a trace arrives or grows, look up its `needs` among what
others provide and its `provides` among what others need (its own longest list first), close over what was found, and
run `link` on the operations of those traces. `needs` holds at most `MAX_NEEDS` lists of a call, the longest, so a
conversation's index stays linear in its length. Traces that share no key need never be looked at together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xxhash import xxh3_128_digest, xxh3_128_intdigest

from collector.assembly.evidence import (
    LINKING,
    MAX_NEEDS,
    answering_key,
    asked_ids,
    is_id,
    is_open,
    pending_key,
    whole_of,
)
from collector.assembly.merge import settle
from collector.operation import Chain, Operation, OperationKind, Role, ToolCallPart, ToolResultPart


@dataclass(frozen=True, slots=True)
class LinkKeys:
    """What a trace can be found by, and what it looks for; 16 bytes each, the service is in them."""

    conversation_ids: frozenset[str]
    ids: frozenset[bytes]
    """Keys of ids, among `provides` and `needs`: these join whoever shares them."""
    provides: frozenset[bytes]
    needs: tuple[bytes, ...]


def link_keys(operations: Iterable[Operation]) -> LinkKeys:
    """See the head of this module."""
    collected = _Collected()
    # Shorter lists first: of a longer one only what it adds is walked over then.
    for operation in sorted(map(settle, operations), key=_input_length):
        collected.add(operation)
    return LinkKeys(
        conversation_ids=frozenset(collected.names),
        ids=frozenset(collected.ids),
        provides=frozenset(collected.provides),
        needs=tuple(collected.needs),
    )


def _input_length(operation: Operation) -> int:
    return operation.input.length if operation.input is not None else 0


class _Collected:
    def __init__(self) -> None:
        self.names: set[str] = set()
        self.ids: set[bytes] = set()
        self.provides: set[bytes] = set()
        self.needs: dict[bytes, None] = {}
        self._walked: dict[int, Chain] = {}
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
            self.needs.update(dict.fromkeys(self._history(operation.input, keys)))

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
        if is_open(operation) and operation.input is not None:
            self.provides.add(keys.open(operation.input))
        pending = pending_key(operation)
        if pending is not None:
            self.provides.add(pending)

    def _history(self, chain: Chain | None, keys: _Keys) -> Iterator[bytes]:
        """Calls and replies in an input, latest first, as far as no list that it extends was walked over before."""
        calls: dict[str, None] = {}
        count = 0
        lists: list[bytes] = []
        node = chain
        while node is not None and (count < MAX_NEEDS or len(lists) < 2 * MAX_NEEDS):
            if id(node) in self._walked:
                break
            message = node.message
            if message.role is Role.ASSISTANT and message.parts and len(lists) < 2 * MAX_NEEDS:
                lists.append(keys.list(node))
                lists.append(keys.open(node.parent) if node.parent is not None else lists[-1])
            for part in reversed(message.parts):
                if isinstance(part, (ToolCallPart, ToolResultPart)) and is_id(part.call_id) and count < MAX_NEEDS:
                    calls[part.call_id or ""] = None
                    count += 1
            node = node.parent
        if chain is not None:
            # Held, so that its identity cannot be another list's.
            self._walked[id(chain)] = chain
        yield from map(keys.call, calls)
        yield from lists


class _Keys:
    """Keys within one service. Not for deciding anything, so they need not withstand somebody who wants them equal."""

    def __init__(self, service: str | None) -> None:
        name = (service or "").encode("utf-8", "surrogatepass")
        head = len(name).to_bytes(4, "big") + name
        self._identity = b"id" + head
        self._call = b"call" + head
        self._list = xxh3_128_intdigest(b"list" + head)
        self._open = xxh3_128_intdigest(b"open" + head)

    def identity(self, value: str) -> bytes:
        return xxh3_128_digest(self._identity + value.encode("utf-8", "surrogatepass"))

    def call(self, value: str) -> bytes:
        return xxh3_128_digest(self._call + value.encode("utf-8", "surrogatepass"))

    def list(self, chain: Chain) -> bytes:
        """A list's digest is one already; that it is a list, and of which service, is put upon it."""
        return (int.from_bytes(chain.digest, "big") ^ self._list).to_bytes(16, "big")

    def open(self, chain: Chain) -> bytes:
        return (int.from_bytes(chain.digest, "big") ^ self._open).to_bytes(16, "big")
