"""Digests of messages and chains: when two sightings are one message, and when one list extends another.

A message's digest covers what every sighting of it has in common: role, text without its white space (a streamed answer
comes in pieces, its replay whole), name and arguments of each tool call, each tool result. It leaves out reasoning
(seldom replayed), names, empty texts, how text is split into parts, JSON text versus object, and tool-call ids:
several instrumentations drop those on one side of a call only. Ids are compared by themselves, as surer evidence,
where lists are joined. System messages do not enter a chain's digest: agents that hand a conversation over replay it
under prompts of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from collector.frozen import altered
from collector.messages.values import canonical, squash
from collector.operation import (
    Chain,
    CompactionPart,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

SIZE = 16
EMPTY = b""
_MAX_RUN = 512


def with_digest(message: Message) -> Message:
    return altered(message, digest=digest(message.role, message.parts))


def digest(role: Role, parts: Sequence[Part]) -> bytes:
    fed = [role.encode()]
    text = "".join([_without_space(part.text) for part in parts if isinstance(part, TextPart)])
    if text:
        _feed(fed, b"t", text.encode("utf-8", "surrogatepass"))
    for part in parts:
        if not isinstance(part, (TextPart, ReasoningPart)):
            _feed_part(fed, part)
    return blake2b(b"".join(fed), digest_size=SIZE).digest()


def _without_space(text: str) -> str:
    """`"".join(text.split())`, quicker where there is hardly any white space but spaces and ends of lines."""
    dense = text.replace(" ", "").replace("\n", "")
    pieces = dense.split(None, 1)
    return dense if len(pieces) == 1 and len(pieces[0]) == len(dense) else "".join(dense.split())


def _feed_part(fed: list[bytes], part: Part) -> None:
    match part:
        case ToolCallPart():
            _feed(fed, b"c", part.name.encode("utf-8", "surrogatepass"))
            _feed(fed, b"a", canonical(part.arguments))
        case ToolResultPart():
            _feed(fed, b"r", canonical(part.result))
        case MediaPart():
            _feed(fed, b"m", part.modality.encode("utf-8", "surrogatepass"))
        case CompactionPart():
            _feed(fed, b"k", squash(part.text or "").encode("utf-8", "surrogatepass"))


def _feed(fed: list[bytes], tag: bytes, value: bytes) -> None:
    fed += (tag, len(value).to_bytes(8, "big"), value)


def link(parent: Chain | None, message: Message) -> Chain:
    before = parent.digest if parent is not None else EMPTY
    length = parent.length + 1 if parent is not None else 1
    if message.role is Role.SYSTEM:
        return Chain(message=message, parent=parent, digest=before, length=length)
    own = message.digest
    if parent is not None and message.role is Role.ASSISTANT and parent.message.role is Role.ASSISTANT:
        before, own = _run(parent, message)
    return Chain(message=message, parent=parent, digest=blake2b(before + own, digest_size=SIZE).digest(), length=length)


def _run(parent: Chain, message: Message) -> tuple[bytes, bytes]:
    """A streamed answer may be replayed as one message a piece, its calls among them; they count as the whole."""
    pieces = [message]
    node: Chain | None = parent
    while node is not None and node.message.role is Role.ASSISTANT and len(pieces) < _MAX_RUN:
        pieces.append(node.message)
        node = node.parent
    parts = tuple(part for piece in reversed(pieces) for part in piece.parts)
    return (node.digest if node is not None else EMPTY), digest(Role.ASSISTANT, parts)


def extend(chain: Chain | None, messages: Iterable[Message]) -> Chain | None:
    """The list that `messages` make of `chain`; None for nothing upon nothing."""
    for message in messages:
        chain = link(chain, message)
    return chain
