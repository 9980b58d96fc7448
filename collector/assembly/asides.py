"""Calls beside the conversation: guards, titles, routers and rewriters that stand alone, told by what was gone on from.

An answer that the user saw is in the history that later calls of the agent replay. So where the agent went on without a
call's answer, a call that knew no history itself, had no tools and was asked under another prompt, that call was no
turn; and so were those of the same prompt later on, whose answers nothing could replay yet. Without a later call there
is nothing to tell by, and every call is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from collector.assembly.node import Node
from collector.assembly.said import has_calls
from collector.assembly.segments import Segment
from collector.messages.fold import says_anything
from collector.operation import Operation, OperationKind, Role, ToolResultPart


def without_asides(
    segments: Sequence[Segment], replayed: AbstractSet[bytes], passed: Mapping[int, int]
) -> list[Segment]:
    """`replayed` are the digests of all messages that some input holds, `passed` what `passed_on` found: whose answer
    another one worked on, which is no aside itself, did its part in the turn.
    """
    lone = [segment for segment in segments if _stands_alone(segment, replayed)] if len(segments) > 2 else []
    if not lone:
        return list(segments)
    calls = [node for segment in segments for node in segment.calls]
    own = {_prompt(node) for node in calls if _is_gone_on_from(node, replayed)}
    latest = max((node.operation.start_ns for node in calls if _goes_on(node.operation)), default=0)
    others = [segment for segment in lone if own and _prompt(segment.calls[0]) not in own]
    beside = {_prompt(s.calls[0]) for s in others if s.calls[0].operation.end_ns <= latest}
    asides = {id(segment) for segment in others if _prompt(segment.calls[0]) in beside}
    kept: list[Segment] = []
    did_their_part: set[int] = set()
    for segment in reversed(segments):
        keys = [id(segment), *map(id, segment.calls)]
        if id(segment) not in asides or not did_their_part.isdisjoint(keys):
            kept.append(segment)
            did_their_part.update(passed[key] for key in keys if key in passed)
    return kept[::-1]


def _stands_alone(segment: Segment, replayed: AbstractSet[bytes]) -> bool:
    if segment.entry.kind is not OperationKind.MODEL_CALL or segment.tools or segment.handoffs:
        return False
    node = segment.calls[0]
    operation = node.operation
    if operation.input is None or not says_anything(operation.output) or any(map(has_calls, operation.output)):
        return False
    known = _goes_on(operation) or operation.previous_response_id or operation.input_is_delta
    return not known and not _is_gone_on_from(node, replayed)


def _goes_on(operation: Operation) -> bool:
    """Its input holds what an assistant said or a tool gave; looked for from the end, where it is."""
    node = operation.input
    while node is not None:
        message = node.message
        if message.role is Role.ASSISTANT or any(isinstance(part, ToolResultPart) for part in message.parts):
            return True
        node = node.parent
    return False


def _is_gone_on_from(node: Node, replayed: AbstractSet[bytes]) -> bool:
    output = node.operation.output
    return any(message.digest in replayed for message in output if message.parts and not has_calls(message))


def _prompt(node: Node) -> tuple[str | None, frozenset[str]]:
    return node.system, node.speaker[1]
