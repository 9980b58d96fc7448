"""What the live state hands over: a turn or a conversation that is ready to be judged, or word that one is gone.

Values are complete and immutable. `key` names the unit whatever its revision; `revision` grows by one whenever the
content does, and never otherwise, so a unit that is handed over twice is the same unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from collector.model import Conversation


class ReadyReason(StrEnum):
    """Which rule said that a unit is ready."""

    ENDED = "ended"
    """Its root or agent span ended, nothing is open below, and it was quiet long enough."""
    END_MARKER = "end_marker"
    """The application said that the conversation is over."""
    IDLE = "idle"
    MAX_AGE = "max_age"
    """Open for so long that waiting for its end makes no sense; what is known is handed over."""


@dataclass(frozen=True, slots=True)
class ReadyTurn:
    key: str
    conversation: Conversation
    """Up to and including the turn."""
    turn_index: int
    revision: int
    content_digest: bytes
    reason: ReadyReason


@dataclass(frozen=True, slots=True)
class ReadyConversation:
    key: str
    conversation: Conversation
    revision: int
    content_digest: bytes
    reason: ReadyReason


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A unit that was handed over and is none any more: late data made it part of another one."""

    key: str
    revision: int


Ready: TypeAlias = ReadyTurn | ReadyConversation | Withdrawn


def turn_key(conversation: Conversation, *, trace_id: str, span_id: str) -> str:
    return f"turn:{conversation.key}:{trace_id}:{span_id}"


def conversation_key(conversation: Conversation) -> str:
    return f"conversation:{conversation.key}"
