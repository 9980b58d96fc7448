"""What is shown of a conversation, place by place, in the order it happened.

A place depends on its own turn and the turns before it only, so the places of a conversation that grew begin with the
places it had. Gaps are named where they are. The agent's private reasoning is not in the model of a conversation.

Pinned is what a verdict most often hangs on: the system prompt, user inputs, errors, handoffs, and calls of tools that
the system prompt speaks of, with their results.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from collector.model import Conversation, ToolCallStep, ToolDefinition
from evaluators.transcript.place import Place
from evaluators.transcript.signature import signature_text
from evaluators.transcript.turn_places import turn_places
from evaluators.transcript.values import json_text, name_text

_OPENING_CHARS = 400
_REPLIED_TO_CHARS = 400
_SIGNATURES_CHARS = 2400
_MAX_COUNTED_TOOLS = 12


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
            yield from turn_places(turn, calls, named)
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
