"""Finds conversations by what people have at hand: a conversation id, a trace id, or the beginning of either."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from collector.errors import AdhereError
from collector.live.store import StateStore
from collector.model import Conversation

Assemble = Callable[[int], Sequence[Conversation]]
"""The conversations of a component."""

_MAX_COMPONENTS = 50


class ConversationNotFoundError(AdhereError):
    """No conversation, or more than one, answers to the name."""


def find_conversations(store: StateStore, assemble: Assemble, prefix: str, *, limit: int) -> list[Conversation]:
    """Exact matches alone where there are any."""
    found: list[Conversation] = []
    for component in store.components_matching(prefix, limit=_MAX_COMPONENTS):
        found += [conversation for conversation in assemble(component) if _matches(conversation, prefix)]
    exact = [conversation for conversation in found if conversation.conversation_id == prefix]
    return (exact or found)[:limit]


def find_conversation(store: StateStore, assemble: Assemble, prefix: str) -> Conversation:
    found = find_conversations(store, assemble, prefix, limit=_MAX_COMPONENTS)
    if not found:
        raise ConversationNotFoundError(
            f"No conversation or trace {prefix!r} is known; "
            "it may be older than the retention, or its telemetry has not arrived."
        )
    if len(found) > 1:
        names = ", ".join(sorted(conversation.key for conversation in found)[:5])
        raise ConversationNotFoundError(
            f"{len(found)} conversations answer to {prefix!r} ({names}); give more of the id, or the trace id."
        )
    return found[0]


def _matches(conversation: Conversation, prefix: str) -> bool:
    return (
        conversation.conversation_id.startswith(prefix)
        or conversation.key.startswith(prefix)
        or any(turn.trace_id.startswith(prefix) for turn in conversation.turns)
    )
