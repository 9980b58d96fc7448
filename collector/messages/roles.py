"""The many names of the four roles."""

from __future__ import annotations

from collector.operation import Role

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "instruction": Role.SYSTEM,
    "instructions": Role.SYSTEM,
    "systemmessage": Role.SYSTEM,
    "systemmessagechunk": Role.SYSTEM,
    "user": Role.USER,
    "human": Role.USER,
    "humanmessage": Role.USER,
    "humanmessagechunk": Role.USER,
    "customer": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "agent": Role.ASSISTANT,
    "aimessage": Role.ASSISTANT,
    "aimessagechunk": Role.ASSISTANT,
    "chatbot": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    "toolmessage": Role.TOOL,
    "toolmessagechunk": Role.TOOL,
    "functionmessage": Role.TOOL,
    "ipython": Role.TOOL,
    "environment": Role.TOOL,
}


def role_of(value: object) -> Role | None:
    """None where the text names no role we know. Enum reprs such as "ChatRole.USER" count."""
    if not isinstance(value, str):
        return None
    name = value.strip().lower()
    return _ROLES.get(name) or _ROLES.get(name.rpartition(".")[2].strip("'\">: "))
