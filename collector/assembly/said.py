"""What messages say: the user's words of a turn, the answer's text, and which messages are a turn's own.

A human's input is a user message with something in it; several in a row are one input. System messages belong to no
turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from collector.messages.markers import gaps_in
from collector.messages.values import decode_container, join_texts, squash
from collector.model import GapKind
from collector.operation import (
    Chain,
    CompactionPart,
    MediaPart,
    Message,
    Operation,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

_MAX_DEPTH = 8
_IDENTIFIER = re.compile(r"(?=.*[0-9_:/-])[A-Za-z0-9_.:@/-]{1,80}")


def text_in(message: Message) -> str:
    """The message's texts; media are named, never left out silently."""
    texts: list[str] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            texts.append(part.text)
        elif isinstance(part, MediaPart):
            texts.append(f"[{part.modality}]")
    kept = [text for text in texts if text.strip()]
    return join_texts(kept) if message.role is Role.ASSISTANT else "\n".join(kept)


def is_human(message: Message) -> bool:
    """A user message; an empty one counts, for with content off it is the only sign of a turn."""
    return message.role is Role.USER and not any(isinstance(part, ToolResultPart) for part in message.parts)


def has_calls(message: Message) -> bool:
    return any(isinstance(part, ToolCallPart) for part in message.parts)


def is_compaction(message: Message) -> bool:
    return any(isinstance(part, CompactionPart) for part in message.parts)


def system_of(operation: Operation) -> str | None:
    """The system prompt of a call: its own field, else the system messages of its input (of an agent, its output)."""
    if operation.system_instructions:
        return operation.system_instructions
    texts: list[str] = []
    for message in operation.input or ():
        if message.role is Role.SYSTEM:
            text = text_in(message)
            if text and text not in texts:
                texts.append(text)
    for message in () if texts else operation.output:
        if message.role is Role.SYSTEM:
            text = text_in(message)
            if text and text not in texts:
                texts.append(text)
    return "\n\n".join(texts) or None


def answer_of(messages: Sequence[Message]) -> str | None:
    """The last thing said to the user in an output; None where the last message still asks for tools."""
    for message in reversed(messages):
        if message.role is Role.ASSISTANT:
            text = text_in(message)
            if has_calls(message):
                return None
            if text:
                return text
        elif message.role in {Role.USER, Role.TOOL}:
            return None
    return None


def is_cut(operation: Operation) -> bool:
    """The input was cut on its way: messages after its last one are missing, and of that one the end."""
    return operation.input is not None and _ends_in(operation.input.message)


def told_by(operation: Operation) -> str | None:
    """The answer in an operation's output; none where the output replays a conversation and was cut."""
    output = operation.output
    is_cut_replay = bool(output) and _ends_in(output[-1]) and any(map(is_human, output))
    return None if is_cut_replay else answer_of(output)


def _ends_in(message: Message) -> bool:
    """The cut fell into this message. A text that bears a mark of its own was cut by itself, and its list is whole."""
    if GapKind.TRUNCATED not in message.gaps:
        return False
    values = [getattr(part, "text", None) or getattr(part, "result", None) for part in message.parts]
    return not any(GapKind.TRUNCATED in gaps_in(value) for value in values if isinstance(value, str))


def asked_in(operation: Operation) -> list[Section]:
    """The input's last section; none where it was cut in what may be an earlier turn: the latest words are unknown."""
    if not is_cut(operation):
        return last_sections_of(operation.input)
    sections = sections_of(operation.input)
    return [] if len(sections) > 1 or any(s.messages for s in sections) else sections


def payload_of(words: str | None, calls: Iterable[Operation]) -> str | None:
    """What the first call of a model was asked with, where `words` are but a part of its JSON, or an id."""
    asked = next((text for call in calls if (text := user_input_of(call.input))), None)
    if words is None or asked is None:
        return words
    if _IDENTIFIER.fullmatch(words) and not contains(asked, words):
        return asked  # the first argument of a function is not always what the user said
    if asked.lstrip()[:1] not in ("{", "["):
        return words
    wanted = squash(words)
    return asked if any(squash(text) == wanted for text in _texts_in(decode_container(asked), _MAX_DEPTH)) else words


def _texts_in(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth > 0 and isinstance(value, (list, Mapping)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(item, depth - 1)


def user_input_of(chain: Chain | None) -> str | None:
    """The user's words that end the list: its last run of user messages."""
    sections = last_sections_of(chain)
    return sections[-1].user_text if sections else None


class Section:
    """One turn within a message list: what the user said, and everything after it up to the next user message."""

    __slots__ = ("anchor", "nodes", "users")

    def __init__(self) -> None:
        self.users: list[Message] = []
        self.nodes: list[Chain] = []
        """The list's ends at each message after the user's."""
        self.anchor = b""
        """Digest of the list up to and with the user's message: the same turn wherever the list is replayed."""

    @property
    def messages(self) -> list[Message]:
        return [node.message for node in self.nodes]

    @property
    def user_text(self) -> str | None:
        return "\n\n".join(text for message in self.users if (text := text_in(message))) or None


def sections_of(chain: Chain | None, *, stop: Iterable[bytes] = ()) -> list[Section]:
    """The list cut at its user messages, first first. Messages before any user message are left out.

    `stop` are anchors already known: of the turns before one of them nothing is looked at again.
    """
    known = frozenset(stop)
    nodes: list[Chain] = []
    node = chain
    while node is not None:
        nodes.append(node)
        if node.digest in known and is_human(node.message):
            # The run of user messages goes on to the left of its anchor's last message.
            node = node.parent
            while node is not None and is_human(node.message):
                nodes.append(node)
                node = node.parent
            break
        node = node.parent
    sections: list[Section] = []
    for node in reversed(nodes):
        message = node.message
        if message.role is Role.SYSTEM:
            continue
        if is_human(message):
            if not sections or sections[-1].nodes:
                sections.append(Section())
            sections[-1].users.append(message)
            sections[-1].anchor = node.digest
        elif sections:
            sections[-1].nodes.append(node)
    return sections


def last_sections_of(chain: Chain | None) -> list[Section]:
    """The last of `sections_of`, if there is one, without walking over what is before it."""
    after: list[Chain] = []
    users: list[Chain] = []
    node = chain
    while node is not None:
        if node.message.role is not Role.SYSTEM:
            if is_human(node.message):
                users.append(node)
            elif users:
                break
            else:
                after.append(node)
        node = node.parent
    if not users:
        return []
    last = Section()
    last.users = [user.message for user in reversed(users)]
    last.nodes = after[::-1]
    last.anchor = users[0].digest
    return [last]


def has_human(chain: Chain | None) -> bool:
    node = chain
    while node is not None:
        if is_human(node.message):
            return True
        node = node.parent
    return False


def has_history(chain: Chain | None) -> bool:
    """Whether anything was said before the user's last words."""
    node = chain
    while node is not None and not is_human(node.message):
        node = node.parent
    while node is not None and (is_human(node.message) or node.message.role is Role.SYSTEM):
        node = node.parent
    return node is not None


def tail_of(chain: Chain | None) -> list[Chain]:
    """The list's end at each message after the last human one; at all but system messages where there is none."""
    found: list[Chain] = []
    node = chain
    while node is not None and not is_human(node.message):
        if node.message.role is not Role.SYSTEM:
            found.append(node)
        node = node.parent
    return list(reversed(found))


def same_text(one: str | None, two: str | None) -> bool:
    return bool(one) and bool(two) and (one == two or squash(one or "") == squash(two or ""))


def contains(whole: str | None, part: str | None) -> bool:
    return bool(whole) and bool(part) and squash(part or "") in squash(whole or "")
