"""The canonical digest of a unit's content: what a judge would be shown, and nothing else.

Span ids, times and token counts are left out, so a re-sent or re-assembled conversation has the same digest. Call ids
count by what they pair: each is replaced by the order of its first appearance, since providers make up new ones freely.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from collector.model import HandoffStep, MessageStep, Step, ToolCallStep, ToolResultStep, Turn
from evaluators.verdict import Unit

_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class Content:
    digest: str
    """32 hex digits over the unit's kind and everything in it that a judge may see."""
    size: int
    """Bytes of that, as JSON."""


def content_of(unit: Unit) -> Content:
    canonical = canonical_bytes(_unit(unit))
    return Content(digest=_hash(canonical), size=len(canonical))


def content_digest(unit: Unit) -> str:
    return content_of(unit).digest


def prefix_digests(unit: Unit) -> list[str]:
    """For n from 0 to the unit's last turn: the digest of the unit's content up to its first n turns."""
    conversation = unit.conversation
    ordinals: dict[str, int] = {}
    tools = [[tool.name, tool.description, tool.parameters] for tool in conversation.tool_definitions]
    digests = [digest_of([unit.kind.value, conversation.agent.name, conversation.system_instructions, tools])]
    for turn in conversation.turns:
        digests.append(digest_of([digests[-1], _turn(turn, ordinals)]))
    return digests


def digest_of(value: object) -> str:
    """32 hex digits over JSON values; equal for equal values whatever the order of their keys."""
    return _hash(canonical_bytes(value))


def _hash(canonical: bytes) -> str:
    return hashlib.blake2b(canonical, digest_size=_DIGEST_BYTES).hexdigest()


def _unit(unit: Unit) -> list[object]:
    conversation = unit.conversation
    ordinals: dict[str, int] = {}
    return [
        unit.kind.value,
        unit.turn_index,
        conversation.agent.name,
        conversation.system_instructions,
        [[tool.name, tool.description, tool.parameters] for tool in conversation.tool_definitions],
        [_turn(turn, ordinals) for turn in conversation.turns],
    ]


def canonical_bytes(value: object) -> bytes:
    try:
        return orjson.dumps(value, default=_plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError):  # Integers over 64 bit, lone surrogates, depth: all legal in telemetry, and slower.
        return json.dumps(value, default=_plain, sort_keys=True).encode()


def _turn(turn: Turn, ordinals: dict[str, int]) -> list[object]:
    return [
        turn.user_input,
        [_step(step, ordinals) for step in turn.steps],
        turn.output,
        turn.status.value,
        sorted(gap.value for gap in turn.gaps),
        turn.agent,
    ]


def _step(step: Step, ordinals: dict[str, int]) -> list[object]:
    match step:
        case MessageStep():
            return [step.kind, step.agent, step.text]
        case ToolCallStep():
            call, parent = _ordinal(step.call_id, ordinals), _ordinal(step.parent_call_id, ordinals)
            return [step.kind, step.agent, step.name, step.arguments, call, step.group, parent]
        case ToolResultStep():
            call, parent = _ordinal(step.call_id, ordinals), _ordinal(step.parent_call_id, ordinals)
            return [step.kind, step.agent, step.name, step.result, call, step.is_error, parent]
        case HandoffStep():
            return [step.kind, step.from_agent, step.to_agent]


def _ordinal(call_id: str | None, ordinals: dict[str, int]) -> int | None:
    return None if call_id is None else ordinals.setdefault(call_id, len(ordinals))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    return str(value)
