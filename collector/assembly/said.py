"""What messages say: whether the user speaks or calls are asked for, the answer's text, and what was cut off."""

from __future__ import annotations

from collections.abc import Sequence

from collector.messages.markers import gaps_in
from collector.messages.values import join_texts, squash
from collector.model import GapKind
from collector.operation import (
    CompactionPart,
    MediaPart,
    Message,
    Operation,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)


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


def same_text(one: str | None, two: str | None) -> bool:
    return bool(one) and bool(two) and (one == two or squash(one or "") == squash(two or ""))


def contains(whole: str | None, part: str | None) -> bool:
    return bool(whole) and bool(part) and squash(part or "") in squash(whole or "")
