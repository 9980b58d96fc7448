"""Whether what a segment, a call or a replay says is said in a turn that is known.

Words alone tell little, for users repeat themselves: it counts as well what followed on them, and when. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

from collector.assembly.draft import Draft
from collector.assembly.node import Node
from collector.assembly.said import contains, same_text
from collector.assembly.sections import Section, has_history
from collector.assembly.segments import Segment
from collector.messages.values import squash
from collector.operation import Message, Role, ToolCallPart, ToolResultPart

_MIN_WITHIN = 8
"""Characters: less is within many texts by chance."""


def asks_once_more(turn: Draft, segment: Segment) -> bool:
    """The same user input once more: another agent of the same request, or a turn that is gone on with."""
    if not same_text(turn.user_text, segment.user_text):
        return False
    return segment.trace_id in turn.trace_ids or (segment.goes_on and not turn.has_answer)


def goes_on(turn: Draft, section: Section, node: Node) -> bool:
    """A list that lost its beginning, or an agent's own, has another anchor. What followed on the words tells that
    they are these, or that another agent works on them at the same time.
    """
    if section.nodes and not turn.has_answer:
        return True
    if node.operation.trace_id in turn.trace_ids:
        if any(_overlap(call, node) for call in turn.calls):
            return True
        given = {message.digest for call in turn.calls for message in call.operation.output}
        if any(message.digest in given for message in section.messages if message.role is Role.ASSISTANT):
            return True
    known = {call.call_id for call in turn.items.calls if call.call_id}
    return bool(known & call_ids_in(section.messages))


def starts_over(turn: Draft, section: Section, node: Node) -> bool:
    """The same list once more after it was answered: the user said the same again, and no history is sent.

    With a history the answer would be in it; so that is another call of the same turn.
    """
    if section.nodes or not turn.has_answer or has_history(node.operation.input):
        return False
    if node.operation.trace_id not in turn.trace_ids:
        latest = max((call.operation.end_ns for call in turn.calls), default=0)
        return node.operation.start_ns >= latest
    return node.operation.previous_response_id in turn.response_ids


def begins_as_known(words: str | None, turns: Iterable[Draft]) -> bool:
    """What a cut left of the words may be the beginning of an earlier turn, whose history was sent."""
    left = squash(words or "")
    return any(squash(turn.user_text or "").startswith(left) for turn in turns)


def is_replay_of(section: Section, turn: Draft) -> bool:
    """The replayed words are the turn's; a template may be around them, or was when they were sent."""
    one, two = turn.user_text, section.user_text
    return same_text(one, two) or contains(two, one) or holds_words(one, two)


def holds_words(whole: str | None, part: str | None) -> bool:
    """One text is in the other, and not by chance."""
    return len(part or "") >= _MIN_WITHIN and contains(whole, part)


def call_ids_in(messages: Iterable[Message]) -> set[str]:
    parts = (part for message in messages for part in message.parts)
    return {part.call_id for part in parts if isinstance(part, (ToolCallPart, ToolResultPart)) and part.call_id}


def _overlap(one: Node, two: Node) -> bool:
    return one.operation.start_ns < two.operation.end_ns and two.operation.start_ns < one.operation.end_ns
