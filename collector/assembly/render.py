"""A conversation as JSON (the form that reconstruction is scored in) and as text for people."""

from __future__ import annotations

from typing import Any, assert_never

from collector.messages.values import text_of
from collector.model import Conversation, HandoffStep, MessageStep, Step, ToolCallStep, ToolResultStep, Turn

_WIDTH = 2_000


def to_json(conversation: Conversation) -> dict[str, Any]:
    return {
        "conversation_id": conversation.conversation_id,
        "conversation_id_source": conversation.conversation_id_source.value,
        "service": conversation.service,
        "agent": {
            "name": conversation.agent.name,
            "id": conversation.agent.id,
            "version": conversation.agent.version,
        },
        "system_instructions": conversation.system_instructions,
        "tool_definitions": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in conversation.tool_definitions
        ],
        "turns": [_turn(turn) for turn in conversation.turns],
    }


def to_text(conversation: Conversation) -> str:
    """What happened, one line a step, numbered as verdicts cite them: from 0. Long values are cut visibly."""
    head = f"conversation {conversation.conversation_id} ({conversation.conversation_id_source.value})"
    lines = [f"{head} · service {conversation.service or '-'} · agent {conversation.agent.name or '-'}"]
    if conversation.system_instructions:
        lines.append(f"       system     {_cut(conversation.system_instructions)}")
    for turn in conversation.turns:
        gaps = f" · gaps: {', '.join(gap.value for gap in turn.gaps)}" if turn.gaps else ""
        place = "log records only" if turn.is_stand_in else f"trace {turn.trace_id} span {turn.span_id}"
        lines.append(f"  turn {turn.index} · {turn.status.value} · {place}{gaps}")
        lines.append(f"       user       {_cut(turn.user_input or '(missing)')}")
        lines += [f"    {number:>2} {_step_line(step)}" for number, step in enumerate(turn.steps)]
        lines.append(f"       answer     {_cut(turn.output or '(missing)')}")
    return "\n".join(lines)


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "index": turn.index,
        "trace_id": turn.trace_id,
        "span_id": turn.span_id,
        "user_input": turn.user_input,
        "steps": [_step(step) for step in turn.steps],
        "output": turn.output,
        "status": turn.status.value,
        "gaps": [gap.value for gap in turn.gaps],
        "agent": turn.agent,
        "model": turn.model,
        "response_id": turn.response_id,
        "input_tokens": turn.input_tokens,
        "output_tokens": turn.output_tokens,
    }


def _step(step: Step) -> dict[str, Any]:
    match step:
        case ToolCallStep():
            return {
                "kind": step.kind,
                "call_id": step.call_id,
                "name": step.name,
                "arguments": step.arguments,
                "span_id": step.span_id,
                "agent": step.agent,
                "group": step.group,
                "parent_call_id": step.parent_call_id,
            }
        case ToolResultStep():
            return {
                "kind": step.kind,
                "call_id": step.call_id,
                "name": step.name,
                "result": step.result,
                "is_error": step.is_error,
                "span_id": step.span_id,
                "agent": step.agent,
                "parent_call_id": step.parent_call_id,
            }
        case MessageStep():
            return {
                "kind": step.kind,
                "text": step.text,
                "agent": step.agent,
                "span_id": step.span_id,
                "parent_call_id": step.parent_call_id,
            }
        case HandoffStep():
            return {"kind": step.kind, "from": step.from_agent, "to": step.to_agent, "span_id": step.span_id}
        case _:
            assert_never(step)


def _step_line(step: Step) -> str:
    match step:
        case ToolCallStep():
            line = f"call       {step.name}({_cut(text_of(step.arguments))})"
        case ToolResultStep():
            line = f"{'error ' if step.is_error else 'result'}     {step.name or '?'} -> {_cut(text_of(step.result))}"
        case MessageStep():
            line = f"says       {step.agent + ': ' if step.agent else ''}{_cut(step.text)}"
        case HandoffStep():
            return f"handoff    {step.from_agent or '?'} -> {step.to_agent}"
        case _:
            assert_never(step)
    return f"  {line}" if step.parent_call_id else line


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDTH else f"{flat[:_WIDTH]} [{len(flat) - _WIDTH} characters more]"
