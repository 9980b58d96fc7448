"""Calls that work on what another call of the same request answered: who carries out a plan, who rewords an answer.

Such a call was asked by the program, not by a user: its words hold, in a text, what another answered before it in the
same trace. It goes on with that other one's turn. It does not where the answer is in its history, as that of the turn
before is, nor where it is shown question and answer alike and has no tools: a grade, or a title, is about a turn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collector.assembly.node import Node
from collector.assembly.said import answer_of, is_cut, text_in
from collector.assembly.sections import last_sections_of
from collector.assembly.segments import Segment
from collector.messages.values import squash
from collector.operation import Chain, Operation, Role

_MIN_ANSWER = 12
"""Characters: less is within many texts by chance."""
_MAX_LATEST = 16


@dataclass(frozen=True, slots=True)
class _Piece:
    """A segment that says what was asked, or else a call."""

    key: int
    start_ns: int
    end_ns: int
    words: str
    answer: str
    history: Chain | None
    has_tools: bool


def passed_on(segments: Sequence[Segment]) -> dict[int, int]:
    """Of each segment (its identity) or call (its node's) that was given an answer: the one that answered."""
    by_trace: dict[str, list[_Piece]] = defaultdict(list)
    for segment in segments:
        by_trace[segment.trace_id] += _pieces(segment)
    found: dict[int, int] = {}
    for pieces in by_trace.values():
        pieces.sort(key=lambda piece: piece.start_ns)
        for index, piece in enumerate(pieces if len(pieces) > 1 else ()):
            earlier = pieces[max(0, index - _MAX_LATEST) : index]
            giver = next((other for other in earlier if _is_given(piece, other)), None)
            if giver is not None:
                found[piece.key] = giver.key
    return found


def _pieces(segment: Segment) -> Iterator[_Piece]:
    if segment.user_text is not None:
        operation = segment.entry.operation
        calls = [node.operation for node in segment.calls]
        answer = segment.answer or (answer_of(calls[-1].output) if calls else None)
        first = calls[0] if calls else operation
        has_tools = bool(segment.tools or any(call.tool_definitions for call in (operation, *calls)))
        yield _piece(id(segment), operation, segment.user_text, answer, first.input, has_tools=has_tools)
        return
    for node in segment.calls:
        words = _asked_by(node)
        if words is not None:
            operation = node.operation
            answer = answer_of(operation.output)
            yield _piece(
                id(node), operation, words, answer, operation.input, has_tools=bool(operation.tool_definitions)
            )


def _piece(
    key: int, operation: Operation, words: str, answer: str | None, history: Chain | None, *, has_tools: bool
) -> _Piece:
    said = squash(answer or "")
    return _Piece(key, operation.start_ns, operation.end_ns, squash(words), said, history, has_tools)


def _asked_by(node: Node) -> str | None:
    """The last message that it was sent; none where it goes on with a turn, or sends no more than what is new."""
    operation = node.operation
    if operation.input_is_delta or operation.previous_response_id or is_cut(operation):
        return None
    sections = last_sections_of(operation.input)
    return text_in(sections[-1].users[-1]) or None if sections else None


def _is_given(piece: _Piece, other: _Piece) -> bool:
    answer = other.answer
    if len(answer) < _MIN_ANSWER or other.end_ns > piece.start_ns or answer not in piece.words:
        return False
    if answer in other.words or piece.words == other.words:
        return False
    if other.words and other.words in piece.words and not piece.has_tools:
        return False
    return not _is_replayed(answer, piece.history)


def _is_replayed(answer: str, history: Chain | None) -> bool:
    node = history
    while node is not None:
        if node.message.role is Role.ASSISTANT and squash(text_in(node.message)) == answer:
            return True
        node = node.parent
    return False
