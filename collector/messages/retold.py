"""What another agent did, retold to a model in a user's name, back to what it was.

Google ADK gives an agent the words, calls and results of the other agents of a session as user messages that begin with
"For context:". No user said that: read as what they retell they are the very messages that were sent before, so a
history goes on through a handoff. A message counts as retold only if every text in it has one of the known forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from collector.messages.digests import with_digest
from collector.messages.reprs import decode_repr
from collector.messages.values import decode, object_or_text
from collector.model import JsonValue
from collector.operation import Message, Part, ReasoningPart, Role, TextPart, ToolCallPart, ToolResultPart

_PREAMBLE = "For context:"
_LONG_PREAMBLE = "For context: below is a transcript of what another agent did"
_BEGIN, _END = "<<<BEGIN_QUOTED_AGENT_CONTENT>>>", "<<<END_QUOTED_AGENT_CONTENT>>>"
_FORM = re.compile(
    r"\[(?P<who>[^\]\n]{1,200})\] "
    r"(?:(?P<verb>said|thought)|called tool `(?P<called>[^`\n]{1,200})` with parameters"
    r"|`(?P<returned>[^`\n]{1,200})` tool returned result):\s?",
)


def untold(messages: Sequence[Message]) -> tuple[Message, ...] | None:
    """The messages with what was retold in its own form; None where nothing was."""
    if not any(_may_retell(message) for message in messages):
        return None
    found: list[Message] = []
    is_changed = False
    for message in messages:
        own = _retold(message) if _may_retell(message) else None
        is_changed = is_changed or own is not None
        found += [message] if own is None else own
    return tuple(found) if is_changed else None


def _may_retell(message: Message) -> bool:
    first = message.parts[0] if message.parts else None
    return message.role is Role.USER and isinstance(first, TextPart) and first.text.startswith(_PREAMBLE)


def _retold(message: Message) -> list[Message] | None:
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    preamble, rest = texts[0].strip(), texts[1:]
    if not rest or not (preamble == _PREAMBLE or preamble.startswith(_LONG_PREAMBLE)):
        return None
    parts: list[tuple[str, Part]] = []
    for text in rest:
        match = _FORM.match(text)
        if match is None:
            return None
        parts.append((match["who"], _part(match, _quoted(text[match.end() :]))))
    return list(_messages(parts, message))


def _part(match: re.Match[str], text: str) -> Part:
    if match["called"]:
        return ToolCallPart(match["called"], _value(text))
    if match["returned"]:
        return ToolResultPart(_value(text), name=match["returned"])
    return ReasoningPart(text) if match["verb"] == "thought" else TextPart(text)


def _messages(parts: Iterable[tuple[str, Part]], source: Message) -> Iterator[Message]:
    """What was said or asked in a row by one agent is one message, results are another."""
    group: list[Part] = []
    key: tuple[str, Role] | None = None
    for who, part in parts:
        role = Role.TOOL if isinstance(part, ToolResultPart) else Role.ASSISTANT
        if key is not None and key != (who, role):
            yield _message(key, group, source)
            group = []
        key = (who, role)
        group.append(part)
    if key is not None:
        yield _message(key, group, source)


def _message(key: tuple[str, Role], parts: Sequence[Part], source: Message) -> Message:
    return with_digest(replace(source, role=key[1], parts=tuple(parts), name=key[0]))


def _quoted(text: str) -> str:
    text = text.strip()
    if text.startswith(_BEGIN):
        return text.removeprefix(_BEGIN).removesuffix(_END).strip("\n")
    return text


def _value(text: str) -> JsonValue:
    """Values are retold as Python prints them."""
    printed = decode_repr(text) if isinstance(decode(text), str) else None
    return object_or_text(text) if printed is None else object_or_text(printed)
