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
    exact = _ROLES.get(value)
    if exact is not None:
        return exact
    name = value.strip().lower()
    return _ROLES.get(name) or _ROLES.get(name.rpartition(".")[2].strip("'\">: "))


def is_pair(value: object) -> bool:
    """`["user", "words"]`, the short form of a message that LangChain takes and records."""
    if not isinstance(value, (list, tuple)) or len(value) != 2 or not isinstance(value[1], str):
        return False
    return isinstance(value[0], str) and _ROLES.get(value[0]) in _SPEAKERS


_SPEAKERS = {Role.SYSTEM, Role.USER, Role.ASSISTANT}
