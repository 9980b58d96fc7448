"""Telling Adhere's own telemetry from everybody else's, whoever sends it back to us: it must not be judged in turn.

What Adhere sends has its scope and a mark; backends and collectors on the way may lose the one, or make text of the
other. Its judge's calls are also traced by gateways that know nothing of either: those are told by the first words of
the system prompt, which no user of an agent can write.
"""

from __future__ import annotations

from collector.operation import Chain, Operation, Role, TextPart
from collector.telemetry.records import AttributeValue, LogRecord, Span

JUDGE_OPENING = "You audit recorded conversations between users and an AI agent."
"""Every question of Adhere's to a judge begins so."""
_OWN_SCOPE = "adhere"
_INTERNAL = "adhere.internal"
_MOST_MESSAGES = 8
"""A question has fewer; to look for the first of a long history each time would be quadratic."""


def is_own(item: Span | LogRecord) -> bool:
    name = item.scope.name
    if name.startswith(_OWN_SCOPE) and (name == _OWN_SCOPE or name[len(_OWN_SCOPE)] == "."):
        return True
    return (
        _is_true(item.attributes.get(_INTERNAL))
        or _is_true(item.scope.attributes.get(_INTERNAL))
        or _is_true(item.resource.attributes.get(_INTERNAL))
    )


def is_judge_call(operation: Operation) -> bool:
    """A call of a judge, of this Adhere or another one."""
    instructions = operation.system_instructions
    if instructions is not None and instructions.lstrip().startswith(JUDGE_OPENING):
        return True
    return operation.input is not None and operation.input.length <= _MOST_MESSAGES and _opens(operation.input)


def _opens(chain: Chain) -> bool:
    first = chain.messages()[0]
    text = next((part.text for part in first.parts if isinstance(part, TextPart)), "")
    return first.role is Role.SYSTEM and text.lstrip().startswith(JUDGE_OPENING)


def _is_true(value: AttributeValue | None) -> bool:
    return value is True or value in ("true", "True")
