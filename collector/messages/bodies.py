"""Bodies that hold a message list among other things: requests, responses, the state of a graph.

Such a body is replayed whole with every call, so it is not decoded whole: its members are told apart without decoding
them, the list goes as it is to `MessageDecoder`, which knows what it has seen, and only what is beside it is decoded.
A body of another shape, or one that was cut, is decoded whole, and then the bounds of `payloads` and `truncation` hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import orjson

from collector.messages.decoder import Decoded, MessageDecoder
from collector.messages.payloads import is_message, request_items, response_items, system_of
from collector.messages.roles import is_pair
from collector.messages.streamed import answer_in_pieces
from collector.messages.truncation import decode_or_mend
from collector.messages.unfinished import unfinished
from collector.messages.values import as_str, decode
from collector.model import GapKind
from collector.operation import Message, Role
from collector.telemetry.json_text import loads

_LISTS = (
    "messages", "input", "contents", "chat_history", "history", "inputs", "prompt", "output", "outputs", "replies",
)  # fmt: skip
_HOLDERS = {*_LISTS, "choices", "candidates", "generations", "message", "content", "parts"}
_CALL_KEYS = {"args", "kwargs"}
_LOOK_AT = 4
"""So many items of a list tell whether it is one of messages."""
_MAX_DEPTH = 4

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Body:
    """The message list of a body, and what is beside it."""

    decoded: Decoded = field(default_factory=Decoded)
    system: str | None = None
    """The system prompt that a request holds beside its messages."""
    rest: Mapping[str, Any] = field(default_factory=dict)
    """The other members of the object that holds the list; the whole object where it has none."""

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.decoded.messages


def read_request(value: object, decoder: MessageDecoder, *, default: Role = Role.USER) -> Body:
    """What a call was given. A body without a message list gives no messages; see `entities` for single texts."""
    text = _json_text(value)
    if text is None:
        items = request_items(value)
        return Body(decoder.read_items(items, default=default)) if items else Body()
    found = _without_decoding(text.encode("utf-8", "replace"), decoder, default, depth=_MAX_DEPTH)
    if found is not None:
        return found
    whole, was_cut = decode_or_mend(text)
    items = request_items(whole) or (request_items(_without_rest(whole)) if was_cut else None)
    decoded = decoder.read_items(_without_system(items, whole), default=default) if items else Decoded()
    rest = whole if isinstance(whole, Mapping) else {}
    return Body(_marked(decoded, whole, decoder) if was_cut else decoded, _system(rest), rest)


def read_response(value: object, decoder: MessageDecoder) -> Body:
    """What a call gave back; of several choices the first, of a streamed answer all pieces as one message."""
    text = _json_text(value)
    if text is None:
        items = response_items(value)
        return Body(decoder.read_items(items, default=Role.ASSISTANT)) if items else Body()
    found = _without_decoding(text.encode("utf-8", "replace"), decoder, Role.ASSISTANT, depth=_MAX_DEPTH)
    if found is not None:
        return found
    whole, was_cut = decode_or_mend(text)
    items = response_items(whole) or (response_items(_without_rest(whole)) if was_cut else answer_in_pieces(whole))
    decoded = decoder.read_items(items, default=Role.ASSISTANT) if items else Decoded()
    rest = whole if isinstance(whole, Mapping) else {}
    return Body(_marked(decoded, whole, decoder) if was_cut else decoded, None, rest)


def response_id_of(rest: Mapping[str, Any]) -> str | None:
    """The provider's id of a response: its own, or the one that LangChain keeps beside the message."""
    identity = rest.get("id") or rest.get("response_id") or rest.get("responseId")
    if isinstance(identity, str) and any(
        key in rest for key in ("choices", "output", "content", "candidates", "object")
    ):
        return as_str(identity)
    node: Any = rest.get("generations")
    while isinstance(node, list) and node:
        node = node[0]
    for key in ("message", "kwargs"):
        inner = node.get(key) if isinstance(node, Mapping) else None
        node = inner if isinstance(inner, Mapping) else node
    about = node.get("response_metadata") if isinstance(node, Mapping) else None
    return as_str(about.get("id")) if isinstance(about, Mapping) else None


def _json_text(value: object) -> str | None:
    """The value as the text of a JSON object or array, cut or whole; None for everything else."""
    if isinstance(value, (Mapping, list)):
        try:
            return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
        except (TypeError, ValueError, RecursionError):
            return None
    for _ in range(3):
        if not isinstance(value, str):
            return None
        text = value.strip()
        if text[:1] in ("{", "["):
            return text
        inner = decode(text, levels=1) if text[:1] == '"' else None
        if not isinstance(inner, str) or inner == value:
            return None
        value = inner
    return None


def _without_decoding(raw: bytes, decoder: MessageDecoder, default: Role, *, depth: int) -> Body | None:
    """The body if it is, or holds in a plain place, a message list; None for a body of any other shape."""
    if depth <= 0:
        return None
    if raw[:1] == b"[":
        listed = _message_list(raw)
        return Body(decoder.read(listed, default=default)) if listed is not None else None
    try:
        members = _members.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    if "role" in members or "lc" in members:
        return None
    for key in _LISTS:
        inner = bytes(members[key]) if key in members else b""
        listed = _message_list(inner) if inner[:1] == b"[" else None
        if listed is not None:
            rest = {name: _loads(bytes(member)) for name, member in members.items() if name != key}
            return Body(decoder.read(listed, default=default), _system(rest), rest)
    only = _only_member(members)
    return _without_decoding(only, decoder, default, depth=depth - 1) if only is not None else None


def _only_member(members: Mapping[str, msgspec.Raw]) -> bytes | None:
    """What a Python call was given, or what stands under the one name of an object (a component, a parameter)."""
    given = {key: bytes(member) for key, member in members.items() if bytes(member) not in (b"null", b"{}", b"[]")}
    if len(given) != 1:
        return None
    key, raw = next(iter(given.items()))
    if key == "args" and set(members) <= _CALL_KEYS and raw[:1] == b"[":
        try:
            arguments = _items.decode(raw)
        except (msgspec.DecodeError, RecursionError):
            return None
        if len(arguments) == 1 and bytes(arguments[0])[:1] in (b"{", b"["):
            return bytes(arguments[0])
        return None
    return raw if raw[:1] == b"{" else None


def _message_list(raw: bytes) -> bytes | None:
    """The list, if it is one of messages; out of the list around it, which LangChain has for batches of one."""
    try:
        items = _items.decode(raw)
        head = [loads(bytes(item)) for item in items[:_LOOK_AT]]
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    if len(items) == 1 and isinstance(head[0], list) and not is_pair(head[0]):
        return _message_list(bytes(items[0]))
    fits = all(isinstance(item, Mapping) or is_pair(item) for item in head)
    return raw if fits and any(is_message(item) or is_pair(item) for item in head) else None


def _without_system(items: Sequence[Any], whole: object) -> Sequence[Any]:
    """`request_items` puts the separate system prompt first; here it is told apart."""
    system = system_of(whole) if isinstance(whole, Mapping) else None
    first = items[0] if items else None
    is_own = isinstance(first, Mapping) and first == {"role": "system", "content": system}
    return items[1:] if system and is_own else items


def _without_rest(whole: object) -> object:
    """Without what the cut left of the last message, where that is not enough to tell that it is one."""
    if isinstance(whole, list):
        inner = [*whole[:-1], _without_rest(whole[-1])] if whole and isinstance(whole[-1], list) else whole[:-1]
        return inner or None
    if not isinstance(whole, Mapping):
        return None
    last = next(reversed(whole), None)
    return {**whole, last: _without_rest(whole[last])} if last is not None else None


def _system(rest: Mapping[str, Any]) -> str | None:
    return system_of(rest) if rest else None


def _marked(decoded: Decoded, whole: object, decoder: MessageDecoder) -> Decoded:
    """What was cut is the last message that is there, unless the cut fell into something after the list."""
    if decoded.chain is None or not _cut_is_in_list(whole):
        return Decoded(decoded.chain, (GapKind.TRUNCATED,))
    before = decoded.chain.parent.messages() if decoded.chain.parent is not None else ()
    return Decoded(decoder.chain_of([*before, unfinished(decoded.chain.message)]))


def _cut_is_in_list(whole: object) -> bool:
    while isinstance(whole, Mapping) and whole:
        last = next(reversed(whole))
        if last in _HOLDERS:
            return True
        if any(key in _HOLDERS for key in whole):
            return False
        whole = whole[last]
    return True


def _loads(raw: bytes) -> Any:
    try:
        return loads(raw)
    except ValueError:
        return None
