"""Where one agent hands the conversation over to another: by a span that says so, or by a tool called for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from collector.assembly.items import CallItem, HandoffItem, Items
from collector.assembly.node import Node

_HANDOFF = re.compile(
    r"^(?:transfer_(?:back_)?to_|hand_?off_to_|hand_?over_to_|delegate_to_|hand_?off$)(?P<to>.*)$", re.IGNORECASE
)
_TARGET_KEYS = ("agent_name", "agent", "to_agent", "assistant", "target", "name")


def add_handoffs(items: Items, handoffs: Sequence[Node]) -> None:
    for node in sorted(handoffs, key=lambda node: node.order):
        operation = node.operation
        if operation.to_agent:
            items.insert(HandoffItem(operation.to_agent, operation.from_agent, operation.start_ns, operation.span_id))
    told = {item.to_agent for item in items.items if isinstance(item, HandoffItem)}
    for call in items.calls:
        target = _target_of(call)
        if target is not None and target not in told:
            position = items.items.index(call) + 1
            items.items.insert(position, HandoffItem(target, call.agent, call.time_ns, call.span_id))


def is_handoff(name: str) -> bool:
    return _HANDOFF.match(name) is not None


def _target_of(call: CallItem) -> str | None:
    found = _HANDOFF.match(call.name)
    if found is None:
        return None
    arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
    named = next((v for key in _TARGET_KEYS if isinstance(v := arguments.get(key), str) and v), None)
    if found["to"].lower() in {"agent", ""}:
        return named
    return found["to"]
