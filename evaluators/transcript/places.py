"""What is shown of a conversation, place by place, in the order it happened.

A place depends on its own turn and the turns before it only, so the places of a conversation that grew begin with the
places it had. Gaps are named where they are. The agent's private reasoning is not in the model of a conversation.

Pinned is what a verdict most often hangs on: the system prompt, user inputs, errors, handoffs, and calls of tools that
the system prompt speaks of, with their results.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from collector.model import (
    Conversation,
    GapKind,
    HandoffStep,
    MessageStep,
    Step,
    ToolCallStep,
    ToolDefinition,
    ToolResultStep,
    Turn,
    TurnStatus,
)
from evaluators.transcript.signature import signature_text
from evaluators.transcript.values import json_text, name_text, value_text

_NOTES: Mapping[GapKind, str] = {
    GapKind.CONTENT_OFF: "message content was not recorded",
    GapKind.CONTENT_ELSEWHERE: "content is stored elsewhere and not part of this record",
    GapKind.USER_INPUT_MISSING: "the user input is not in the telemetry",
    GapKind.OUTPUT_MISSING: "the answer is not in the telemetry",
    GapKind.TOOL_RESULT_MISSING: "a tool result is not in the telemetry: no evidence of fabrication",
    GapKind.TOOL_ARGUMENTS_MISSING: "arguments of a call are not in the telemetry",
    GapKind.ORPHAN_RESULT: "the call of a result is not in the telemetry",
    GapKind.TRUNCATED: "some content was cut by a limit before it was recorded",
    GapKind.ATTRIBUTES_DROPPED: "some content was dropped by a limit before it was recorded",
    GapKind.REDACTED: "some content was redacted",
    GapKind.HISTORY_EDITED: "the agent's later history differs from what was recorded here",
    GapKind.HISTORY_COMPACTED: "the agent summarised earlier messages",
    GapKind.HISTORY_UNSEEN: "known from replayed history only: steps may be missing",
    GapKind.SPANS_MISSING: "steps may be missing: spans did not arrive",
    GapKind.UNDECODABLE: "some content could not be decoded",
}


_OPENING_CHARS = 400
_REPLIED_TO_CHARS = 400
_SIGNATURES_CHARS = 2400
_MAX_COUNTED_TOOLS = 12


_REASONING = re.compile(r"\A(?:\s*<(think|thinking|reasoning)>.*?</\1>)+\s*", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    at: str
    """What evidence cites: `system`, `tools`, `t0.user`, `t0.3`, `t0.answer`, `t0.note`."""
    words: str = ""
    """Our own words on the structural line; never text of the conversation."""
    text: str | None = None
    agent: str | None = None
    """Who spoke or acted, where it is not the turn's own agent."""
    turn: int | None = None
    step: int | None = None
    pinned: bool = False
    """Shortened last."""
    max_chars: int | None = None
    """The most that is shown of it, however much room there is."""
    is_repeated: bool = False
    """An earlier pass has shown it already; it says nothing about how much of the conversation is shown."""

    @property
    def is_agents(self) -> bool:
        """The agent's own words or call."""
        return self.at.endswith(".answer") or self.words.startswith(("message", "call"))


def places_of(conversation: Conversation) -> Iterator[Place]:
    if conversation.system_instructions:
        yield Place(at="system", text=conversation.system_instructions, pinned=True)
    if conversation.tool_definitions:
        yield Place(at="tools", text=_definitions(conversation.tool_definitions))
    yield from turns_of(conversation)


def recent_places_of(conversation: Conversation, *, first: int) -> Iterator[Place]:
    """For a judge who knows the turns before `first` from notes: the turns from it on, and what they cannot do without.

    That is the system prompt, the tools that are called in them, how often each tool was called before, and the answer
    that the first of them replies to. Without a system prompt the user's first words may set the role.
    """
    if conversation.system_instructions:
        yield Place(at="system", text=conversation.system_instructions, pinned=True, is_repeated=True)
    called = {step.name for turn in conversation.turns[first:] for step in turn.steps if isinstance(step, ToolCallStep)}
    tools = [tool for tool in conversation.tool_definitions if tool.name in called]
    if tools:
        text = "\n".join(map(signature_text, tools))
        yield Place(at="tools", words="called below", text=text, max_chars=_SIGNATURES_CHARS, is_repeated=True)
    opening = conversation.turns[0]
    if not conversation.system_instructions and opening.user_input is not None:
        yield Place("t0.user", text=opening.user_input, pinned=True, max_chars=_OPENING_CHARS, is_repeated=True)
    yield Place(at="cut", words=f"turns t0 to t{first - 1}")
    counts = Counter(
        step.name for turn in conversation.turns[:first] for step in turn.steps if isinstance(step, ToolCallStep)
    )
    if counts:
        text = ", ".join(f"{name_text(name)} {count}" for name, count in counts.most_common(_MAX_COUNTED_TOOLS))
        yield Place(at="calls", words="before", text=text, is_repeated=True)
    before = conversation.turns[first - 1]
    if before.output is not None:
        at = f"t{before.index}.answer"
        yield Place(at, text=before.output, pinned=True, max_chars=_REPLIED_TO_CHARS, is_repeated=True)
    yield from turns_of(conversation, first=first)


def _definitions(tools: Sequence[ToolDefinition]) -> str:
    return "\n".join(
        json_text({"name": tool.name, "description": tool.description, "parameters": tool.parameters}) for tool in tools
    )


def turns_of(conversation: Conversation, *, first: int = 0) -> Iterator[Place]:
    """The places of the turns from `first` on."""
    named = _named_tools(conversation)
    calls: dict[str, str] = {}
    for turn in conversation.turns:
        if turn.index >= first:
            yield from _turn(turn, calls, named)
            continue
        for number, step in enumerate(turn.steps):  # Its calls may get their results later.
            if isinstance(step, ToolCallStep) and step.call_id is not None:
                calls[step.call_id] = f"t{turn.index}.{number}"


def _named_tools(conversation: Conversation) -> frozenset[str]:
    """Tools that the system prompt speaks of: rules and procedures are about their calls."""
    system = conversation.system_instructions
    if not system:
        return frozenset()
    names = {step.name for turn in conversation.turns for step in turn.steps if isinstance(step, ToolCallStep)}
    return frozenset(name for name in names if name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", system))


def _turn(turn: Turn, calls: dict[str, str], named: frozenset[str]) -> Iterator[Place]:
    """`calls` holds the place of every call so far, by its id; `named` are tools whose calls are pinned."""
    if turn.user_input is not None:
        yield Place(at=f"t{turn.index}.user", text=turn.user_input, turn=turn.index, pinned=True)
    pairs, groups = _pairs(turn.steps), _groups(turn.steps)
    answered = set(pairs.values())
    open_calls = 0
    for number, step in enumerate(turn.steps):
        place = _step(turn, number, step, calls, call=pairs.get(number), groups=groups)
        yield replace(place, pinned=True) if _tool_of(step, number, turn, pairs) in named else place
        if isinstance(step, ToolCallStep) and number not in answered:
            open_calls += 1
            words = f"result of t{turn.index}.{number} not in the telemetry: no evidence of fabrication"
            yield Place(at=f"t{turn.index}.note", words=words, turn=turn.index)
    if turn.output is not None:
        words, text = _spoken(turn.output)
        yield Place(at=f"t{turn.index}.answer", words=words, text=text, turn=turn.index)
    for gap in turn.gaps:
        if gap is not GapKind.TOOL_RESULT_MISSING or not open_calls:
            yield Place(at=f"t{turn.index}.note", words=_NOTES[gap], turn=turn.index)
    match turn.status:
        case TurnStatus.ERROR:
            yield Place(at=f"t{turn.index}.note", words="this turn ended in an error", turn=turn.index, pinned=True)
        case TurnStatus.INCOMPLETE:
            yield Place(at=f"t{turn.index}.note", words="this turn had not ended when it was recorded", turn=turn.index)
        case TurnStatus.OK:
            pass
        case _:
            assert_never(turn.status)


def _tool_of(step: Step, number: int, turn: Turn, pairs: Mapping[int, int]) -> str | None:
    if isinstance(step, ToolResultStep) and number in pairs:
        step = turn.steps[pairs[number]]
    return step.name if isinstance(step, ToolCallStep | ToolResultStep) else None


def _pairs(steps: Sequence[Step]) -> dict[int, int]:
    """The number of each result's call in the same turn: by id; where neither has one, by name and order."""
    pairs: dict[int, int] = {}
    open_calls: dict[str | None, list[int]] = {}
    for number, step in enumerate(steps):
        if isinstance(step, ToolCallStep):
            open_calls.setdefault(step.call_id, []).append(number)
        elif isinstance(step, ToolResultStep):
            waiting = open_calls.get(step.call_id, [])
            fitting = (call for call in waiting if step.call_id is not None or _may_answer(step, steps[call]))
            call = next(fitting, None)
            if call is not None:
                waiting.remove(call)
                pairs[number] = call
    return pairs


def _may_answer(result: ToolResultStep, call: Step) -> bool:
    return isinstance(call, ToolCallStep) and result.name in (None, call.name)


def _spoken(text: str) -> tuple[str, str]:
    """Without reasoning that a local model wrote before its words; it argues for what it does, and is no deed."""
    spoken = _REASONING.sub("", text)
    return ("private reasoning left out" if spoken != text else ""), spoken


def _groups(steps: Sequence[Step]) -> frozenset[int | None]:
    """Of calls that were asked for together; one call alone is none."""
    counts = Counter(step.group for step in steps if isinstance(step, ToolCallStep))
    return frozenset(group for group, count in counts.items() if group is not None and count > 1)


def _step(
    turn: Turn, number: int, step: Step, calls: dict[str, str], *, call: int | None, groups: frozenset[int | None]
) -> Place:
    at = f"t{turn.index}.{number}"
    match step:
        case MessageStep():
            words, text = _spoken(step.text)
            words = f"message, {words}" if words else "message"
            return Place(at, words, text, _other(step.agent, turn), turn.index, number)
        case ToolCallStep():
            if step.call_id is not None:
                calls[step.call_id] = at
            words = _call_words(step, calls, groups)
            return Place(at, words, call_text(step), _other(step.agent, turn), turn.index, number)
        case ToolResultStep():
            earlier = calls.get(step.call_id) if step.call_id is not None else None
            source = f"t{turn.index}.{call}" if call is not None else earlier
            words, text = _result_words(step, source, calls), result_text(step, named=source is None)
            return Place(at, words, text, _other(step.agent, turn), turn.index, number, pinned=step.is_error)
        case HandoffStep():
            return Place(at, "handoff", handoff_text(step), None, turn.index, number, pinned=True)
        case _:
            assert_never(step)


def _call_words(step: ToolCallStep, calls: Mapping[str, str], groups: frozenset[int | None]) -> str:
    words = ["call"]
    if step.group in groups:
        words.append(f"parallel group {step.group}")
    words += _inside(step.parent_call_id, calls)
    if step.arguments is None:
        words.append("arguments not in the telemetry")
    elif isinstance(step.arguments, str):
        words.append("arguments not a JSON object")
    return ", ".join(words)


def _result_words(step: ToolResultStep, source: str | None, calls: Mapping[str, str]) -> str:
    words = [f"result of {source}" if source else "result of a call not in the telemetry"]
    if step.is_error:
        words.append("error")
    return ", ".join(words + _inside(step.parent_call_id, calls))


def _inside(parent_call_id: str | None, calls: Mapping[str, str]) -> list[str]:
    parent = calls.get(parent_call_id) if parent_call_id is not None else None
    return [f"inside {parent}"] if parent else []


def _other(agent: str | None, turn: Turn) -> str | None:
    return None if agent is None or agent == turn.agent else agent


def call_text(step: ToolCallStep) -> str:
    if step.arguments is None:
        return name_text(step.name)
    separator = "\n" if isinstance(step.arguments, str) else " "
    return name_text(step.name) + separator + value_text(step.arguments)


def result_text(step: ToolResultStep, *, named: bool = False) -> str:
    return f"{name_text(step.name)}\n{value_text(step.result)}" if named and step.name else value_text(step.result)


def handoff_text(step: HandoffStep) -> str:
    source = f"from {name_text(step.from_agent)} " if step.from_agent else ""
    return f"{source}to {name_text(step.to_agent)}"
