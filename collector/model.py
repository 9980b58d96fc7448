"""The vocabulary of conversations: what the collector makes of telemetry and every later stage reads.

A conversation holds turns, a turn holds steps, each with the span it came from. Values are immutable. What the
telemetry should hold and does not is a gap, named and never filled in. Times are nanoseconds since the Unix epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias

from collector.frozen import quick

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"


class GapKind(StrEnum):
    """What the telemetry should hold and does not."""

    CONTENT_OFF = "content_off"
    """The instrumentation sends structure without message content."""
    CONTENT_ELSEWHERE = "content_elsewhere"
    """Only a reference to content stored outside of the telemetry arrived."""
    USER_INPUT_MISSING = "user_input_missing"
    OUTPUT_MISSING = "output_missing"
    TOOL_RESULT_MISSING = "tool_result_missing"
    """A tool call whose result nobody sent. It is no evidence that the result was made up."""
    TOOL_ARGUMENTS_MISSING = "tool_arguments_missing"
    ORPHAN_RESULT = "orphan_result"
    """A tool result whose call nobody sent."""
    TRUNCATED = "truncated"
    """A value was cut by a limit on its way."""
    ATTRIBUTES_DROPPED = "attributes_dropped"
    """The SDK's limit on the number of attributes dropped some."""
    REDACTED = "redacted"
    HISTORY_EDITED = "history_edited"
    """A replayed history differs from what was seen earlier."""
    HISTORY_COMPACTED = "history_compacted"
    """The agent summarised earlier messages."""
    HISTORY_UNSEEN = "history_unseen"
    """Earlier turns are known only from replayed history; their own spans never arrived."""
    SPANS_MISSING = "spans_missing"
    """A parent span is named that never arrived."""
    UNDECODABLE = "undecodable"
    """A content attribute is there and could not be decoded."""


class TurnStatus(StrEnum):
    OK = "ok"
    ERROR = "error"
    INCOMPLETE = "incomplete"


class ConversationIdSource(StrEnum):
    """Where a conversation's id comes from, best first."""

    ATTRIBUTE = "attribute"
    """The operation's own attribute."""
    ANCESTOR = "ancestor"
    TRACE = "trace"
    """Another span of the same trace."""
    RESOURCE = "resource"
    RESPONSE_ID = "response_id"
    """A chain of previous-response ids."""
    HISTORY = "history"
    """A message list that extends one already known."""
    TRACE_ID = "trace_id"
    """Nothing joins this trace to another one; its trace id stands in."""


@quick
@dataclass(frozen=True, slots=True)
class Agent:
    name: str | None = None
    id: str | None = None
    version: str | None = None


@quick
@dataclass(frozen=True, slots=True)
class ToolDefinition:
    name: str
    description: str | None = None
    parameters: Mapping[str, JsonValue] | None = None
    """JSON schema of the arguments."""


@quick
@dataclass(frozen=True, slots=True)
class MessageStep:
    """Text that the assistant (or a sub-agent) said on the way, before the turn's final output."""

    text: str
    agent: str | None = None
    span_id: str | None = None
    parent_call_id: str | None = None
    """The call of the sub-agent that said this."""
    kind: Literal["message"] = "message"


@quick
@dataclass(frozen=True, slots=True)
class ToolCallStep:
    name: str
    arguments: JsonValue
    """An object as a rule; a string where the telemetry holds no parsable object; None where it holds nothing."""
    call_id: str | None = None
    span_id: str | None = None
    agent: str | None = None
    group: int | None = None
    """Calls that the model asked for in one message share a group number within the turn."""
    parent_call_id: str | None = None
    """The call of the sub-agent that this step is nested under."""
    kind: Literal["tool_call"] = "tool_call"


@quick
@dataclass(frozen=True, slots=True)
class ToolResultStep:
    result: JsonValue
    name: str | None = None
    call_id: str | None = None
    is_error: bool = False
    span_id: str | None = None
    agent: str | None = None
    parent_call_id: str | None = None
    kind: Literal["tool_result"] = "tool_result"


@dataclass(frozen=True, slots=True)
class HandoffStep:
    to_agent: str
    from_agent: str | None = None
    span_id: str | None = None
    kind: Literal["handoff"] = "handoff"


Step: TypeAlias = MessageStep | ToolCallStep | ToolResultStep | HandoffStep


@quick
@dataclass(frozen=True, slots=True)
class Turn:
    """From one user input to the answer to it. `trace_id` and `span_id` name the target span that scores belong to."""

    index: int
    trace_id: str
    span_id: str
    user_input: str | None = None
    steps: tuple[Step, ...] = ()
    output: str | None = None
    status: TurnStatus = TurnStatus.OK
    gaps: tuple[GapKind, ...] = ()
    start_ns: int = 0
    end_ns: int = 0
    agent: str | None = None
    model: str | None = None
    response_id: str | None = None
    """`gen_ai.response.id` of the model call that gave the output."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    """What the agent's own model calls cost, where somebody said so."""
    is_stand_in: bool = False
    """The turn is known from log records only. The ids of its target are ours; no backend holds such a span."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """All turns of one user session with one agent system, in order of time."""

    conversation_id: str
    conversation_id_source: ConversationIdSource
    service: str | None = None
    agent: Agent = field(default_factory=Agent)
    system_instructions: str | None = None
    tool_definitions: tuple[ToolDefinition, ...] = ()
    turns: tuple[Turn, ...] = ()
    resource: Mapping[str, str] = field(default_factory=dict)
    """The resource's service, deployment and telemetry attributes; never headers or baggage."""

    @property
    def key(self) -> str:
        """Service and conversation id: equal ids in two services are two conversations."""
        return key_of(self.service, self.conversation_id)


def key_of(service: str | None, conversation_id: str) -> str:
    """What follows the first slash is the id, which may hold slashes of its own; those of the service are encoded."""
    return f"{(service or '').replace('%', '%25').replace('/', '%2F')}/{conversation_id}"
