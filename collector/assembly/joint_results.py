"""Results that several calls were given together, in one message that names none of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from collector.operation import Message, ToolCallPart, ToolResultPart


def with_joint_results(messages: Iterable[Message], shared: set[int]) -> list[Message]:
    """A result that answers several calls at once and names none is what is known of each: whose words are whose nobody
    says. `shared` takes the identities of such parts.
    """
    told = list(messages)
    return _with_joint_results(told, shared) if any(map(_is_joint, told)) else told


def _is_joint(message: Message) -> bool:
    """Holds a result that says of no call that it is its own; few messages do."""
    return any(isinstance(part, ToolResultPart) and not part.call_id and not part.name for part in message.parts)


def _with_joint_results(messages: Iterable[Message], shared: set[int]) -> list[Message]:
    kept: list[Message] = []
    asked = 0
    pending: list[Message] = []
    for message in (*messages, None):
        results = [part for part in message.parts if isinstance(part, ToolResultPart)] if message is not None else []
        if message is not None and results and asked > 1:
            pending.append(message)
            continue
        given = [part for one in pending for part in one.parts if isinstance(part, ToolResultPart)]
        is_joint = len(given) == 1 and not given[0].call_id and not given[0].name
        if is_joint:
            copies = tuple(replace(given[0]) for _ in range(asked))
            shared.update(map(id, copies))
            pending = [replace(one, parts=copies if one.parts else ()) for one in pending]
        kept += pending
        pending = []
        if message is not None:
            kept.append(message)
            asked = sum(isinstance(part, ToolCallPart) for part in message.parts)
    return kept
