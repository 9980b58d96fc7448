"""What is shown of one turn: user input, steps, answer, and the gaps where they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from collector.model import (
    GapKind,
    HandoffStep,
    MessageStep,
    Step,
    ToolCallStep,
    ToolResultStep,
    Turn,
    TurnStatus,
)
from evaluators.transcript.place import Place
from evaluators.transcript.values import name_text, value_text

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
_REASONING = re.compile(r"\A(?:\s*<(think|thinking|reasoning)>.*?</\1>)+\s*", re.DOTALL | re.IGNORECASE)


def turn_places(turn: Turn, calls: dict[str, str], named: frozenset[str]) -> Iterator[Place]:
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
