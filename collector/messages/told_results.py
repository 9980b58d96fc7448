"""Tool results that were read out of a text in a user's message: results, or something a user wrote?

Some instrumentations write the blocks of a message as JSON text, tool results included. Whoever talks to an agent can
write such a text as well, and what they wrote must not pass for what a tool said. So these results count where the
agent's latest message before them asked for just these calls; else the text is what it is, the user's words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collector.messages.digests import with_digest
from collector.messages.roles import role_of
from collector.messages.shapes import author_of, body_of, content_of
from collector.operation import Chain, Message, Role, TextPart, ToolCallPart, ToolResultPart


def as_words(value: Any, messages: Sequence[Message], *, default: Role) -> Message | None:
    """The message as a user's words, where results in it were read out of a text; else None."""
    if not any(_results(message) for message in messages):
        return None
    text, role = value, default
    if isinstance(value, Mapping):
        body, role_of_class = body_of(value)
        text = content_of(body)
        role = role_of_class or role_of(body.get("role")) or role_of(body.get("type")) or author_of(body) or default
    return with_digest(Message(Role.USER, (TextPart(text),))) if isinstance(text, str) and role is Role.USER else None


def are_asked_for(messages: Sequence[Message], before: Chain | None) -> bool:
    """Whether the agent's latest message in the list before asked for every result in these messages."""
    results = [part for message in messages for part in _results(message)]
    given: list[ToolResultPart] = []
    node = before
    while node is not None and node.message.role is not Role.ASSISTANT:
        given += _results(node.message)
        node = node.parent
    # An answer that came in pieces is several messages.
    calls: list[ToolCallPart] = []
    while node is not None and node.message.role is Role.ASSISTANT:
        calls += [part for part in node.message.parts if isinstance(part, ToolCallPart)]
        node = node.parent
    if len(results) + len(given) > len(calls):
        return False
    # Ids are dropped on one side of a call by several instrumentations; where both sides have them, they must fit.
    ids = {call.call_id for call in calls if call.call_id}
    has_unnamed = any(not call.call_id for call in calls)
    return all(not result.call_id or result.call_id in ids or has_unnamed for result in results)


def _results(message: Message) -> list[ToolResultPart]:
    return [part for part in message.parts if isinstance(part, ToolResultPart)]
