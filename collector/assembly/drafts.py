"""Turns while they are put together, from segments in order of time.

Where an agent span says what the user asked, it is one turn. Elsewhere the model calls tell (`turn_choice`), so one
turn may be several traces, and one trace several turns. Replays of earlier turns fill what those lack
(`earlier_turns`); turns known from a replay only are kept as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from collector.assembly.absorb_call import absorb_call
from collector.assembly.draft import Draft
from collector.assembly.draft_state import DraftState, Line
from collector.assembly.node import Node
from collector.assembly.said import is_cut
from collector.assembly.same_turn import asks_once_more, begins_as_known
from collector.assembly.segments import Segment
from collector.assembly.turn_choice import turn_of_call, turn_of_tool, turn_passed_on
from collector.operation import OperationKind


class Drafts:
    """The turns of one conversation, growing at the end."""

    def __init__(self) -> None:
        self._state = DraftState()
        self._passed: Mapping[int, int] = {}
        """Of the segment that is being taken."""

    @property
    def turns(self) -> Sequence[Draft]:
        return self._state.turns

    def follow(self, line: Line) -> None:
        """Make the turns of these segments, each with the calls that are shown of it. Where the line goes on from the
        one before, so do the turns.
        """
        for taken in self._state.follow(line):
            self._passed = taken.passed
            self._take(taken.segment, taken.shown)

    def _take(self, segment: Segment, shown: Sequence[Node]) -> None:
        if segment.entry.kind in {OperationKind.TOOL, OperationKind.HANDOFF}:
            self._take_stray(segment)
        elif segment.user_text is not None:
            self._take_whole(segment, shown)
        elif segment.calls:
            self._take_by_calls(segment, shown)
        elif segment.answer is not None or segment.entry.kind is OperationKind.AGENT:
            self._take_silent(segment)

    def _take_stray(self, segment: Segment) -> None:
        """A tool or handoff span that no agent is around: it belongs to the turn that asked for it, or was on."""
        for tool in segment.tools:
            turn = turn_of_tool(tool, self.turns)
            if turn is not None:
                self._state.change(turn).tools.append(tool)
        if self.turns and segment.handoffs:
            self._state.change(self.turns[-1]).handoffs += segment.handoffs

    def _take_whole(self, segment: Segment, shown: Sequence[Node]) -> None:
        passed = turn_passed_on(self._state, id(segment), self._passed)
        turn = passed or (self.turns[-1] if self.turns else None)
        if turn is None or not (passed or asks_once_more(turn, segment)):
            if not segment.calls and segment.answer is None and segment.entry.kind is not OperationKind.AGENT:
                return  # a step of a pipeline, not a turn
            is_known = is_cut(segment.entry.operation) and begins_as_known(segment.user_text, self.turns)
            turn = Draft(user_text=None if is_known else segment.user_text)
            self._state.begin(turn)
        self._add(turn, segment)
        for node in shown:
            absorb_call(self._state, turn, node)

    def _take_silent(self, segment: Segment) -> None:
        """An agent that neither says what was asked nor has calls under it: structure only."""
        turn = self.turns[-1] if self.turns and self.turns[-1].trace_ids == {segment.trace_id} else None
        if turn is None:
            turn = Draft()
            self._state.begin(turn)
        self._add(turn, segment)

    def _take_by_calls(self, segment: Segment, shown: Sequence[Node]) -> None:
        own: list[Draft] = []
        for node in shown:
            turn = turn_of_call(self._state, node, segment, own, self._passed)
            if turn not in own:
                own.append(turn)
                self._state.change(turn).segments.append(segment)
                turn.gaps.update(segment.entry.operation.gaps)
            absorb_call(self._state, turn, node)
        for tool in segment.tools:
            turn_for = turn_of_tool(tool, own)
            if turn_for is not None:
                self._state.change(turn_for).tools.append(tool)
        if own:
            last = self._state.change(own[-1])
            last.handoffs += segment.handoffs
            last.answer = segment.answer or last.answer

    def _add(self, turn: Draft, segment: Segment) -> None:
        self._state.take(id(segment), turn)
        self._state.change(turn).segments.append(segment)
        turn.tools += segment.tools
        turn.handoffs += segment.handoffs
        turn.answer = segment.answer or turn.answer
        turn.gaps.update((*segment.entry.operation.gaps, *segment.user_gaps))
