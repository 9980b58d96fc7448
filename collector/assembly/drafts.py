"""Turns while they are put together, from segments in order of time.

Where an agent span says what the user asked, it is one turn. Elsewhere the model calls tell: a call belongs to the turn
whose user message is the last in its input, known by the digest of the list up to there; so one turn may be several
traces, and one trace several turns. Replays of earlier turns fill what those lack; turns known from a replay only are
kept as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from collector.assembly.draft import Draft
from collector.assembly.draft_state import DraftState, Line
from collector.assembly.node import Node
from collector.assembly.said import (
    Section,
    asked_in,
    contains,
    has_history,
    has_human,
    is_compaction,
    is_cut,
    same_text,
    sections_of,
    tail_of,
)
from collector.assembly.segments import Segment
from collector.messages.fold import says_anything
from collector.messages.streamed import in_whole
from collector.messages.values import squash
from collector.model import GapKind
from collector.operation import Chain, Message, OperationKind, Role, TextPart, ToolCallPart, ToolResultPart

_MIN_WITHIN = 8
"""Characters: less is within many texts by chance."""
_LATEST = 4


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
            turn = self._turn_for_tool(tool, self.turns)
            if turn is not None:
                self._state.change(turn).tools.append(tool)
        if self.turns and segment.handoffs:
            self._state.change(self.turns[-1]).handoffs += segment.handoffs

    def _take_whole(self, segment: Segment, shown: Sequence[Node]) -> None:
        passed = self._turn_passed_on(id(segment))
        turn = passed or (self.turns[-1] if self.turns else None)
        if turn is None or not (passed or self._continues(turn, segment)):
            if not segment.calls and segment.answer is None and segment.entry.kind is not OperationKind.AGENT:
                return  # a step of a pipeline, not a turn
            is_known = is_cut(segment.entry.operation) and self._begins_as_known(segment.user_text)
            turn = Draft(user_text=None if is_known else segment.user_text)
            self._state.begin(turn)
        self._add(turn, segment)
        for node in shown:
            self._absorb(turn, node)

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
            turn = self._turn_of(node, segment, own)
            if turn not in own:
                own.append(turn)
                self._state.change(turn).segments.append(segment)
                turn.gaps.update(segment.entry.operation.gaps)
            self._absorb(turn, node)
        for tool in segment.tools:
            turn_for = self._turn_for_tool(tool, own)
            if turn_for is not None:
                self._state.change(turn_for).tools.append(tool)
        if own:
            last = self._state.change(own[-1])
            last.handoffs += segment.handoffs
            last.answer = segment.answer or last.answer

    def _continues(self, turn: Draft, segment: Segment) -> bool:
        """The same user input once more: another agent of the same request, or a turn that is gone on with."""
        if not same_text(turn.user_text, segment.user_text):
            return False
        return segment.trace_id in turn.trace_ids or (segment.goes_on and not turn.has_answer)

    def _turn_passed_on(self, key: int) -> Draft | None:
        """The turn whose answer this one works on; none where that only sums up what was said in earlier turns."""
        giver = self._passed.get(key)
        turn = self._state.took.get(giver) if giver is not None else None
        if turn is None:
            return None
        others = [known.user_text or "" for known in self.turns[-_LATEST:] if known is not turn]
        is_summary = any(len(text) >= _MIN_WITHIN and contains(turn.user_text, text) for text in others)
        return None if is_summary else turn

    def _add(self, turn: Draft, segment: Segment) -> None:
        self._state.take(id(segment), turn)
        self._state.change(turn).segments.append(segment)
        turn.tools += segment.tools
        turn.handoffs += segment.handoffs
        turn.answer = segment.answer or turn.answer
        turn.gaps.update((*segment.entry.operation.gaps, *segment.user_gaps))

    def _turn_of(self, node: Node, segment: Segment, own: Sequence[Draft]) -> Draft:
        operation = node.operation
        sections = sections_of(operation.input, stop=self._state.filled)
        current = self.turns[-1] if self.turns else None
        asked = asked_in(operation) if is_cut(operation) else sections
        if is_cut(operation) and (not asked or self._begins_as_known(asked[-1].user_text)):
            return self._turn_of_cut(segment, own)
        if not sections:
            turn = self._turn_without_user(node, segment, own)
            return turn if turn is not None else self._begin(None, b"")
        last = sections[-1]
        passed = self._turn_passed_on(id(node))
        if passed is not None:
            self._state.change(passed).anchors.add(last.anchor)
            self._state.name(last.anchor, passed)
            return passed
        known = self._state.by_anchor.get(last.anchor)
        if known is not None and not self._starts_over(known, last, node):
            return known
        if current is not None and same_text(current.user_text, last.user_text) and self._goes_on(current, last, node):
            self._state.name(last.anchor, current)
            return current
        return self._begin(self._new_words(last), last.anchor)

    def _begin(self, user_text: str | None, anchor: bytes) -> Draft:
        turn = Draft(user_text=user_text)
        if anchor:
            turn.anchors.add(anchor)
            self._state.name(anchor, turn)
        self._state.begin(turn)
        return turn

    def _begins_as_known(self, words: str | None) -> bool:
        """What a cut left of the words may be the beginning of an earlier turn, whose history was sent."""
        left = squash(words or "")
        return any(squash(turn.user_text or "").startswith(left) for turn in self.turns)

    def _turn_of_cut(self, segment: Segment, own: Sequence[Draft]) -> Draft:
        """A call whose latest words were cut away: it goes on with its request, else with what is not answered yet."""
        current = self.turns[-1] if self.turns else None
        is_open = current is not None and not current.has_answer and segment.entry.kind is OperationKind.MODEL_CALL
        if own:
            return own[-1]
        if current is not None and (is_open or segment.trace_id in current.trace_ids):
            return current
        return self._begin(None, b"")

    def _turn_without_user(self, node: Node, segment: Segment, own: Sequence[Draft]) -> Draft | None:
        """A call whose input holds no user message: only what is new was sent, or content is off."""
        operation = node.operation
        if own:
            return own[-1]
        previous = operation.previous_response_id
        if previous:
            found = next((turn for turn in reversed(self.turns) if previous in turn.response_ids), None)
            if found is not None:
                return found
        current = self.turns[-1] if self.turns else None
        if current is None:
            return None
        results = [end.message for end in tail_of(operation.input)]
        ids = _call_ids(results)
        if ids:
            found = next((t for t in reversed(self.turns) if ids & {c.call_id for c in t.items.calls}), None)
            if found is not None:
                return found
        same_request = segment.trace_id in current.trace_ids
        if same_request or (results and any(not call.has_result for call in current.items.calls)):
            return current
        return None

    def _starts_over(self, turn: Draft, section: Section, node: Node) -> bool:
        """The same list once more after it was answered: the user said the same again, and no history is sent.

        With a history the answer would be in it; so that is another call of the same turn.
        """
        if section.nodes or not turn.has_answer or has_history(node.operation.input):
            return False
        if node.operation.trace_id not in turn.trace_ids:
            latest = max((call.operation.end_ns for call in turn.calls), default=0)
            return node.operation.start_ns >= latest
        return node.operation.previous_response_id in turn.response_ids

    def _goes_on(self, turn: Draft, section: Section, node: Node) -> bool:
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
        return bool(known & _call_ids(section.messages))

    def _new_words(self, section: Section) -> str | None:
        """The user's words, without those of an earlier turn that stayed unanswered."""
        texts = [
            "\n".join(part.text for part in message.parts if isinstance(part, TextPart)) for message in section.users
        ]
        previous = self.turns[-1].user_text if self.turns else None
        if len(texts) > 1 and previous is not None and squash(texts[0]) == squash(previous):
            return "\n\n".join(text for text in texts[1:] if text) or None
        return section.user_text

    def _absorb(self, turn: Draft, node: Node) -> None:
        operation = node.operation
        self._state.take(id(node), turn)
        self._state.change(turn).calls.append(node)
        turn.gaps.update(operation.gaps)
        ends = self._own_part(turn, node)
        is_delta = operation.input_is_delta or not has_human(operation.input)
        known = 0 if is_delta else next((i for i in range(len(ends), 0, -1) if ends[i - 1].digest in turn.absorbed), 0)
        turn.absorbed.update(end.digest for end in ends[known:])
        new = [end.message for end in ends[known:]]
        turn.items.absorb(
            new,
            time_ns=operation.start_ns,
            span_id=operation.span_id,
            agent=node.agent_name,
            is_delta=is_delta,
            goes_on=known > 0,
        )
        if any(is_compaction(message) for message in new):
            turn.gaps.add(GapKind.HISTORY_COMPACTED)
        turn.items.add_output(
            operation.output, time_ns=operation.end_ns, span_id=operation.span_id, agent=node.agent_name
        )
        asks = any(_asks(message) for message in operation.output)
        turn.has_answer = turn.has_answer or (says_anything(operation.output) and not asks)

    def _own_part(self, turn: Draft, node: Node) -> list[Chain]:
        """The messages of the call's input that belong to this turn; what comes before fills earlier turns."""
        chain = node.operation.input
        if is_cut(node.operation):
            turn.gaps.add(GapKind.TRUNCATED)
        sections = sections_of(chain, stop=self._state.filled)
        if not sections:
            return tail_of(chain)
        position = self._position(turn, sections)
        if position is None:
            return [] if is_cut(node.operation) else sections[-1].nodes
        current = sections[position]
        turn.anchors.add(current.anchor)
        turn.gaps.update(gap for message in current.users for gap in message.gaps)
        self._name_if_new(current.anchor, turn)
        self._fill_earlier(turn, sections[:position], node)
        self._state.fill(current.anchor)
        found = [end for section in sections[position:] for end in section.nodes]
        is_piece = is_cut(node.operation) and bool(found) and found[-1].message.role is Role.ASSISTANT
        return found[:-1] if is_piece else found

    def _name_if_new(self, anchor: bytes, turn: Draft) -> None:
        if anchor not in self._state.by_anchor:
            self._state.name(anchor, turn)

    def _position(self, turn: Draft, sections: Sequence[Section]) -> int | None:
        for position in range(len(sections) - 1, -1, -1):
            if sections[position].anchor in turn.anchors:
                return position
        for position in range(len(sections) - 1, -1, -1):
            text = sections[position].user_text
            if same_text(text, turn.user_text) or contains(text, turn.user_text):
                return position
        return None

    def _fill_earlier(self, turn: Draft, sections: Sequence[Section], node: Node) -> None:
        """Walk the replayed turns back, each beside the turn that it repeats."""
        at = self.turns.index(turn)
        unseen: list[Section] = []
        for section in reversed(sections):
            known = self._state.by_anchor.get(section.anchor)
            match = at
            if known is not None and known in self.turns[:at]:
                match = self.turns.index(known)
            else:
                match = next((i for i in range(at - 1, -1, -1) if _is_turn_of(section, self.turns[i])), at)
            if match == at:
                unseen.append(section)
                continue
            at = self._insert_unseen(unseen, match + 1, node, match)
            unseen = []
            self._fill(self.turns[match], section, node, turn)
        if at == 0:
            self._insert_unseen(unseen, 0, node, 0)
        elif unseen:
            turn.gaps.add(GapKind.HISTORY_EDITED)  # turns are known, and the replay tells of others

    def _insert_unseen(self, sections: Sequence[Section], place: int, node: Node, result: int) -> int:
        for section in sections:  # latest first, so each goes before the one before it
            turn = Draft(user_text=section.user_text, is_unseen=True, seen_by=node)
            turn.anchors.add(section.anchor)
            self._state.name(section.anchor, turn)
            self._replay(turn, section, node, fill_only=False)
            self._state.begin(turn, place=place)
        return result

    def _fill(self, turn: Draft, section: Section, node: Node, current: Draft) -> None:
        self._state.change(turn)
        if turn.calls and not turn.is_unseen:
            told = [item.text for item in turn.items.texts if not item.asks]
            told = told or [turn.answer or ""]
            replayed = [m for m in in_whole(section.messages) if m.role is Role.ASSISTANT]
            said = "\n".join(p.text for m in replayed[-1:] for p in m.parts if isinstance(p, TextPart))
            if said and all(told) and not any(contains(said, text) or contains(text, said) for text in told):
                current.gaps.add(GapKind.HISTORY_EDITED)
        self._name_if_new(section.anchor, turn)
        turn.anchors.add(section.anchor)
        self._replay(turn, section, node, fill_only=True)

    def _replay(self, turn: Draft, section: Section, node: Node, *, fill_only: bool) -> None:
        operation = node.operation
        turn.items.absorb(
            section.messages,
            time_ns=operation.start_ns,
            span_id=operation.span_id,
            agent=None,
            fill_only=fill_only,
        )
        said = [m for m in in_whole(section.messages) if m.role is Role.ASSISTANT]
        if not said or _asks(said[-1]):
            return
        turn.kept = "\n".join(p.text for p in said[-1].parts if isinstance(p, TextPart)) or None
        if turn.answer is None and not turn.has_answer:
            turn.answer = turn.kept

    def _turn_for_tool(self, tool: Node, turns: Sequence[Draft]) -> Draft | None:
        call_id = tool.operation.call_id
        if call_id:
            found = next((t for t in turns if any(c.call_id == call_id for c in t.items.calls)), None)
            if found is not None:
                return found
        started = [t for t in turns if t.calls and t.calls[0].operation.start_ns <= tool.operation.start_ns]
        same = [t for t in started if tool.operation.trace_id in t.trace_ids]
        return (same or started or list(turns) or [None])[-1]  # type: ignore[list-item]  # None where there is no turn


def _is_turn_of(section: Section, turn: Draft) -> bool:
    """The replayed words are the turn's; a template may be around them, or was when they were sent."""
    one, two = turn.user_text, section.user_text
    is_within = len(two or "") >= _MIN_WITHIN and contains(one, two)
    return same_text(one, two) or contains(two, one) or is_within


def _overlap(one: Node, two: Node) -> bool:
    return one.operation.start_ns < two.operation.end_ns and two.operation.start_ns < one.operation.end_ns


def _asks(message: Message) -> bool:
    return any(isinstance(part, ToolCallPart) for part in message.parts)


def _call_ids(messages: Iterable[Message]) -> set[str]:
    parts = (part for message in messages for part in message.parts)
    return {part.call_id for part in parts if isinstance(part, (ToolCallPart, ToolResultPart)) and part.call_id}
