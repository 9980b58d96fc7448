"""From drafts of turns to a conversation: ids where none were given, names of results, and what is missing.

A conversation without an id of its own is called by the hash of its content, so that the same input has the same
verdict ids in every run. Its turns have stand-in ids: no backend holds a span of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from collector.messages.frame import stand_in_ids
from collector.model import (
    Agent,
    Conversation,
    ConversationIdSource,
    GapKind,
    Step,
    ToolCallStep,
    ToolDefinition,
    ToolResultStep,
    Turn,
    TurnStatus,
)
from evaluators.content import content_digest
from evaluators.formats.drafting import TurnDraft
from evaluators.timeline import RETRIEVED
from evaluators.verdict import Unit, UnitKind


@dataclass(frozen=True, slots=True)
class About:
    """What is given beside the turns."""

    conversation_id: str | None = None
    service: str | None = None
    agent: Agent = field(default_factory=Agent)
    tools: tuple[ToolDefinition, ...] = ()


class _Names:
    """Which tools were called: by the call's id, and those whose calls have none."""

    def __init__(self, drafts: Sequence[TurnDraft]) -> None:
        calls = [step for draft in drafts for step in draft.steps if isinstance(step, ToolCallStep)]
        self.by_id = {call.call_id: call.name for call in calls if call.call_id is not None}
        self.tools = {call.name for call in calls}


def build(drafts: Sequence[TurnDraft], about: About, *, system: Sequence[str] = ()) -> Conversation:
    names = _Names(drafts)
    answered = _answered(drafts)
    found: list[Turn] = []
    for index, draft in enumerate(drafts):
        draft.close()
        found.append(_turn(index, draft, names, answered, is_last=index == len(drafts) - 1))
    conversation = Conversation(
        conversation_id=about.conversation_id or "",
        conversation_id_source=ConversationIdSource.ATTRIBUTE,
        service=about.service,
        agent=about.agent,
        system_instructions="\n\n".join(system) or None,
        tool_definitions=about.tools,
        turns=tuple(found),
    )
    if about.conversation_id is None:
        whole = Unit(UnitKind.CONVERSATION, conversation, turn_index=len(found) - 1)
        conversation = replace(
            conversation,
            conversation_id=content_digest(whole),
            conversation_id_source=ConversationIdSource.TRACE_ID,
        )
    return replace(conversation, turns=tuple(_placed(turn, conversation) for turn in found))


def _placed(turn: Turn, conversation: Conversation) -> Turn:
    service, conversation_id = conversation.service or "", conversation.conversation_id
    trace_id, span_id = stand_in_ids("input", service, conversation_id, own=str(turn.index))
    return replace(turn, trace_id=trace_id, span_id=span_id)


def _turn(index: int, draft: TurnDraft, names: _Names, answered: frozenset[int], *, is_last: bool) -> Turn:
    waiting = [step for step in draft.steps if isinstance(step, ToolCallStep) and id(step) not in answered]
    measures = draft.measures
    return Turn(
        index=index,
        trace_id="",
        span_id="",
        user_input=draft.user_input,
        steps=tuple(_named(step, names) for step in draft.steps),
        output=draft.output,
        status=TurnStatus.INCOMPLETE if is_last and waiting and draft.output is None else TurnStatus.OK,
        gaps=tuple(sorted(draft.gaps | _gaps(draft, waiting, names))),
        start_ns=measures.start_ns,
        end_ns=measures.end_ns,
        input_tokens=measures.input_tokens,
        output_tokens=measures.output_tokens,
        cost_usd=measures.cost_usd,
        is_stand_in=True,
    )


def _gaps(draft: TurnDraft, waiting: Sequence[ToolCallStep], names: _Names) -> set[GapKind]:
    found: set[GapKind] = set()
    if draft.output is None:
        found.add(GapKind.OUTPUT_MISSING)
    if waiting:
        found.add(GapKind.TOOL_RESULT_MISSING)
    for step in draft.steps:
        if isinstance(step, ToolCallStep) and step.arguments is None:
            found.add(GapKind.TOOL_ARGUMENTS_MISSING)
        if isinstance(step, ToolResultStep) and step.name != RETRIEVED and _is_orphan(step, names):
            found.add(GapKind.ORPHAN_RESULT)
    return found


def _is_orphan(step: ToolResultStep, names: _Names) -> bool:
    return step.call_id not in names.by_id if step.call_id is not None else step.name not in names.tools


def _named(step: Step, names: _Names) -> Step:
    if isinstance(step, ToolResultStep) and step.name is None and step.call_id is not None:
        return replace(step, name=names.by_id.get(step.call_id))
    return step


def _answered(drafts: Sequence[TurnDraft]) -> frozenset[int]:
    """The calls that have a result: by id anywhere later, else by name and order within the turn."""
    found: set[int] = set()
    by_id: dict[str, ToolCallStep] = {}
    for draft in drafts:
        loose: list[ToolCallStep] = []
        for step in draft.steps:
            if isinstance(step, ToolCallStep):
                if step.call_id is not None:
                    by_id[step.call_id] = step
                else:
                    loose.append(step)
            elif isinstance(step, ToolResultStep) and step.name != RETRIEVED:
                call = by_id.get(step.call_id) if step.call_id is not None else _first_fitting(step, loose)
                if call is not None:
                    found.add(id(call))
                    if call.call_id is None:
                        loose.remove(call)
    return frozenset(found)


def _first_fitting(result: ToolResultStep, calls: Sequence[ToolCallStep]) -> ToolCallStep | None:
    """A result without an id answers a call without one; where the call has one, nobody can know."""
    return next((call for call in calls if result.name in (None, call.name)), None)
