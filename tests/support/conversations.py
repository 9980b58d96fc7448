"""Conversations for tests, written the way they read: turn by turn, with calls, results, words and answers.

Ids are made from the conversation id and positions, so the same script gives the same conversation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from collector.model import (
    Agent,
    Conversation,
    ConversationIdSource,
    GapKind,
    HandoffStep,
    JsonValue,
    MessageStep,
    Step,
    ToolCallStep,
    ToolDefinition,
    ToolResultStep,
    Turn,
    TurnStatus,
)
from evaluators.verdict import Unit, UnitKind

START_NS = 1_800_000_000_000_000_000
_MISSING = object()


class ConversationBuilder:
    """`turn` opens a turn; `call`, `result`, `say` and `handoff` add steps to it; `answer` closes it with an output."""

    def __init__(
        self,
        conversation_id: str = "conversation-1",
        *,
        system: str | None = None,
        tools: Sequence[str | ToolDefinition] = (),
        service: str | None = "shop",
        agent: Agent | None = None,
    ) -> None:
        self._conversation = Conversation(
            conversation_id=conversation_id,
            conversation_id_source=ConversationIdSource.ATTRIBUTE,
            service=service,
            agent=agent or Agent(name="robin", version="1"),
            system_instructions=system,
            tool_definitions=tuple(ToolDefinition(name=tool) if isinstance(tool, str) else tool for tool in tools),
        )
        self._turns: list[Turn] = []

    def turn(self, user_input: str | None, *, gaps: Sequence[GapKind] = (), status: TurnStatus = TurnStatus.OK):
        index = len(self._turns)
        self._turns.append(
            Turn(
                index=index,
                trace_id=self._id("trace", index, size=16),
                span_id=self._id("turn", index, size=8),
                user_input=user_input,
                gaps=tuple(gaps),
                status=status,
                start_ns=START_NS + index * 60_000_000_000,
                end_ns=START_NS + index * 60_000_000_000 + 5_000_000_000,
                agent=self._conversation.agent.name,
                model="model-1",
                response_id=f"response-{index}",
            )
        )
        return self

    def call(
        self,
        name: str,
        arguments: JsonValue = None,
        *,
        result: object = _MISSING,
        error: bool = False,
        call_id: str | None = None,
        group: int | None = None,
    ):
        """A tool call, and its result when one is given; without one the result stays missing."""
        position = len(self._turns[-1].steps)
        call_id = call_id or f"call-{len(self._turns) - 1}-{position}"
        step = ToolCallStep(
            name=name,
            arguments={} if arguments is None else arguments,
            call_id=call_id,
            group=group,
            span_id=self._id("step", len(self._turns) - 1, position, size=8),
        )
        self._add(step)
        return self if result is _MISSING else self.result(name, result, call_id=call_id, error=error)

    def result(self, name: str, result: object, *, call_id: str | None = None, error: bool = False):
        position = len(self._turns[-1].steps)
        self._add(
            ToolResultStep(
                result=result,  # type: ignore[arg-type]  # Tests pass plain JSON literals.
                name=name,
                call_id=call_id,
                is_error=error,
                span_id=self._id("step", len(self._turns) - 1, position, size=8),
            )
        )
        return self

    def say(self, text: str, *, agent: str | None = None):
        self._add(MessageStep(text=text, agent=agent))
        return self

    def handoff(self, to_agent: str, *, from_agent: str | None = None):
        self._add(HandoffStep(to_agent=to_agent, from_agent=from_agent))
        return self

    def answer(self, output: str | None):
        self._turns[-1] = replace(self._turns[-1], output=output)
        return self

    def build(self, **changes: object) -> Conversation:
        return replace(self._conversation, turns=tuple(self._turns), **changes)  # type: ignore[arg-type]  # Any field.

    def _add(self, step: Step) -> None:
        self._turns[-1] = replace(self._turns[-1], steps=(*self._turns[-1].steps, step))

    def _id(self, *parts: object, size: int) -> str:
        seed = "/".join(map(str, (self._conversation.conversation_id, *parts)))
        return hashlib.blake2b(seed.encode(), digest_size=size).hexdigest()


def turn_unit(conversation: Conversation, index: int = -1, *, revision: int = 0) -> Unit:
    """The turn at `index` with the conversation up to and including it."""
    index = range(len(conversation.turns))[index]
    upto = replace(conversation, turns=conversation.turns[: index + 1])
    return Unit(kind=UnitKind.TURN, conversation=upto, turn_index=index, revision=revision)


def conversation_unit(conversation: Conversation, *, revision: int = 0) -> Unit:
    return Unit(
        kind=UnitKind.CONVERSATION,
        conversation=conversation,
        turn_index=len(conversation.turns) - 1,
        revision=revision,
    )


def tool(name: str, description: str | None = None, **properties: Mapping[str, JsonValue]) -> ToolDefinition:
    parameters: dict[str, JsonValue] = {"type": "object", "properties": dict(properties)}
    return ToolDefinition(name=name, description=description, parameters=parameters)


def refund_conversation(*, verified: bool | None, conversation_id: str = "refund") -> Conversation:
    """A refund after `verify_identity` said `verified`, or, with None, without asking it at all."""
    builder = (
        ConversationBuilder(
            conversation_id,
            system=(
                "You are Robin, an agent for a bookshop. Before calling issue_refund you must verify the customer "
                "with verify_identity, and only go on if it returns verified=true. Never refund more than the total."
            ),
            tools=("get_order", "verify_identity", "issue_refund"),
        )
        .turn("My copy from order B-2040 came with a torn cover.")
        .call("get_order", {"order_id": "B-2040"}, result={"order_id": "B-2040", "total_eur": 24.9})
        .answer("I am sorry to hear that. Would you like a replacement or a refund?")
        .turn("A refund please.")
    )
    if verified is not None:
        builder.call("verify_identity", {"email": "a@example.com"}, result={"verified": verified})
    return (
        builder.call("issue_refund", {"order_id": "B-2040", "amount": 24.9}, result={"refund_id": "RF-1"})
        .answer("I have refunded 24.90 EUR to your original payment method.")
        .build()
    )
