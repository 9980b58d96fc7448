"""One GenAI span or log record in our own form: what a dialect gives and the assembly reads.

A span and the log records that belong to it may each hold a part of one operation and may arrive in any order, so a
dialect turns each of them by itself into an `Operation`, and `collector.assembly.merge` folds those with the same trace
and span id into one: commutative, associative and idempotent.

Message lists are chains: an immutable node points to the list that it extends. Replayed history is therefore one shared
chain however often it is sent, and "does this list extend that one" is a walk over the new messages only. A chain's
digest is a hash over its parent's digest and its last message's digest; system messages leave it as it is, since agents
that share one conversation replay it under prompts of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from collector.frozen import quick
from collector.model import Agent, GapKind, JsonValue, ToolDefinition


class OperationKind(StrEnum):
    MODEL_CALL = "model_call"
    AGENT = "agent"
    """An agent invocation, or a workflow or chain that stands for one."""
    WORKFLOW = "workflow"
    TOOL = "tool"
    RETRIEVAL = "retrieval"
    HANDOFF = "handoff"
    OTHER = "other"
    """Any other span of the trace; kept for the tree, and for ids it may carry."""


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    text: str


@quick
@dataclass(frozen=True, slots=True)
class ToolCallPart:
    name: str
    arguments: JsonValue
    call_id: str | None = None


@quick
@dataclass(frozen=True, slots=True)
class ToolResultPart:
    result: JsonValue
    call_id: str | None = None
    name: str | None = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class MediaPart:
    """A typed placeholder: images, audio and files are named, never carried."""

    modality: str
    mime_type: str | None = None
    reference: str | None = None
    """URI or file id; never the bytes."""


@dataclass(frozen=True, slots=True)
class CompactionPart:
    """Earlier messages were summarised by the agent or the provider."""

    text: str | None = None


Part: TypeAlias = TextPart | ReasoningPart | ToolCallPart | ToolResultPart | MediaPart | CompactionPart


@quick
@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    parts: tuple[Part, ...]
    name: str | None = None
    """The speaker, where a dialect names one."""
    digest: bytes = b""
    """16 bytes over what two sightings of one message have in common; set by `collector.messages`."""
    gaps: tuple[GapKind, ...] = ()
    """What this very message lacks: cut, redacted, or the list ended here because the rest was cut."""


@quick
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chain:
    """A list of messages, as its last message and the list before it.

    The digest leaves system messages out. Equality is that of the messages, and nothing here recurses: a chain may be
    thousands of messages long.
    """

    message: Message
    parent: Chain | None
    digest: bytes
    length: int

    def __iter__(self) -> Iterator[Message]:
        """First message first."""
        return iter(self.messages())

    def messages(self) -> tuple[Message, ...]:
        found: list[Message] = []
        node: Chain | None = self
        while node is not None:
            found.append(node.message)
            node = node.parent
        return tuple(reversed(found))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chain):
            return NotImplemented
        one: Chain | None = self
        two: Chain | None = other
        while one is not None and two is not None and one is not two:
            if one.digest != two.digest or one.message != two.message:
                return False
            one, two = one.parent, two.parent
        return one is two

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Chain(length={self.length}, digest={self.digest.hex()})"


@quick
@dataclass(frozen=True, slots=True)
class EventMessage:
    """A message that arrived as a record of its own (an event per message), with what orders it among its like."""

    time_ns: int
    position: int
    message: Message
    is_output: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    input_tokens: int | None = None
    output_tokens: int | None = None


@quick
@dataclass(frozen=True, slots=True)
class Operation:
    """What one span or one log record says. Absent means unknown, never false."""

    trace_id: str
    span_id: str
    dialect: str
    """The dialect that read it; several, joined with "+" in sorted order, once merged."""
    kind: OperationKind
    name: str = ""
    parent_span_id: str | None = None
    """None: not known (a log record does not say); "": a root."""
    start_ns: int = 0
    end_ns: int = 0
    service: str | None = None
    scope: str = ""
    resource: Mapping[str, str] | None = None

    conversation_id: str | None = None
    conversation_id_rank: int = 99
    """How sure the dialect is that this attribute names a conversation; lower is surer."""
    response_id: str | None = None
    previous_response_id: str | None = None
    model: str | None = None
    provider: str | None = None
    agent: Agent | None = None

    system_instructions: str | None = None
    tool_definitions: tuple[ToolDefinition, ...] | None = None
    input: Chain | None = None
    """What the call was given: the whole history, or only what is new (then `input_is_delta`)."""
    input_is_delta: bool = False
    output: tuple[Message, ...] = ()
    events: tuple[EventMessage, ...] = ()
    """Messages that came one record each; they become `input` and `output` once all fragments are merged."""

    tool_name: str | None = None
    call_id: str | None = None
    arguments: JsonValue = None
    result: JsonValue = None
    has_arguments: bool = False
    has_result: bool = False

    from_agent: str | None = None
    to_agent: str | None = None

    is_error: bool = False
    error: str | None = None
    """Error type or message, for structure only."""
    usage: Usage | None = None
    is_internal: bool = False
    """Known to be no part of what a user sees: embeddings, guardrails, judges, titles."""
    gaps: tuple[GapKind, ...] = ()
    is_stand_in: bool = False
    """The ids are ours (`collector.messages.frame.stand_in_ids`): no backend holds a span of that name."""
