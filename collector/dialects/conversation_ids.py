"""Which attribute names the conversation, in order of how sure that is; the same order for every dialect.

A bare `session.id` on a span of no GenAI interest may be a browser's session, so it counts least, and only where
nothing surer is in the trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.messages.values import decode

BARE_SESSION_RANK = 60
NO_RANK = 99

_SNAKE = ("thread_id", "session_id", "conversation_id")
_CAMEL = ("sessionId", "conversationId", "threadId", "chatId", "session_id", "conversation_id", "thread_id", "chat_id")
_KEYS = (
    "gen_ai.conversation.id",
    "microsoft.gen_ai.main_agent.conversation_id",
    "gen_ai.thread.id",
    "session.id",
    "langfuse.session.id",
    "conversation.id",
    "gcp.vertex.agent.session_id",
    "langfuse.observation.metadata.langfuse_session_id",
    "langfuse.trace.metadata.langfuse_session_id",
    *(f"langsmith.metadata.{name}" for name in _SNAKE),
    *(f"langfuse.trace.metadata.{name}" for name in _SNAKE),
    *(f"langfuse.observation.metadata.{name}" for name in _SNAKE),
    "metadata",
    "traceloop.association.properties.conversation_id",
    "traceloop.association.properties.thread_id",
    "traceloop.association.properties.chat_id",
    "traceloop.association.properties.session_id",
    *(f"ai.telemetry.metadata.{name}" for name in _CAMEL),
    *(f"ai.settings.context.{name}" for name in _CAMEL),
    "mlflow.trace.session",
    *(f"mlflow.traceTag.{name}" for name in (*_SNAKE, "group_id")),
    "voltagent.conversation_id",
    "genkit:sessionId",
    "lmnr.association.properties.session_id",
    "mastra.metadata.threadId",
    "mastra.metadata.sessionId",
    "microsoft.session.id",
)
_RANKS = {key: rank for rank, key in enumerate(_KEYS)}
_MAX_LENGTH = 1024


def conversation_id_of(attributes: Mapping[str, Any], *, is_genai: bool) -> tuple[str, int] | None:
    """(id, rank), the surest first; None where no attribute names a conversation."""
    for rank in sorted([_RANKS[key] for key in _RANKS.keys() & attributes.keys()]):
        key = _KEYS[rank]
        value = attributes[key]
        if value is None or value == "":
            continue
        found = _in_metadata(value) if key == "metadata" else _id(value)
        if found is not None:
            return found, BARE_SESSION_RANK if key == "session.id" and not is_genai else rank
    return None


def _id(value: Any) -> str | None:
    value = decode(value, levels=1)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value[:_MAX_LENGTH] if isinstance(value, str) and value else None


def _in_metadata(value: Any) -> str | None:
    if isinstance(value, str) and not any(key in value for key in _SNAKE):
        return None
    found = decode(value)
    if not isinstance(found, Mapping):
        return None
    return next((known for key in _SNAKE if (known := _id(found.get(key))) is not None), None)
