from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from collector.dialects import vercel_ai_legacy
from collector.messages.decoder import MessageDecoder
from collector.model import ConversationIdSource, GapKind
from collector.operation import MediaPart, OperationKind, ReasoningPart, ToolCallPart
from collector.telemetry.records import Span
from tests.support.genai_spans import rebuild, span
from tests.support.two_turns import (
    ARGUMENTS,
    ASKED,
    ASKED_NEXT,
    CALL,
    PROMPT,
    RESULT,
    TOLD,
    TOLD_NEXT,
    TOOL,
    WHOLE,
    shown,
)

USED = {"toolCallId": CALL, "toolName": TOOL}
ERAS = [
    pytest.param("result", "args", {"result": RESULT}, id="3"),
    pytest.param("response", "args", {"result": RESULT}, id="4"),
    pytest.param("response", "input", {"output": {"type": "json", "value": RESULT}}, id="5-and-later"),
]
NAMES = {
    "ai.telemetry.functionId": "clerk",
    "ai.model.provider": "openai.chat",
    "ai.model.id": "m-1",
    "ai.telemetry.metadata.sessionId": "s-1",
}


def own(operation: str, **attributes: Any) -> dict[str, Any]:
    texts = {key: value if isinstance(value, (str, list)) else json.dumps(value) for key, value in attributes.items()}
    return {"ai.operationId": operation, "operation.name": f"{operation} clerk"} | NAMES | texts


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def used(key: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool-call", **USED, key: ARGUMENTS}]}


def gave(returned: dict[str, Any]) -> dict[str, Any]:
    return {"role": "tool", "content": [{"type": "tool-result", **USED, **returned}]}


def prompt(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"ai.prompt.messages": [{"role": "system", "content": PROMPT}, *messages]}


def two_turns(era: str = "response", key: str = "input", returned: dict[str, Any] | None = None) -> list[Span]:
    results = returned or {"output": {"type": "json", "value": RESULT}}
    first = [user(ASKED), used(key), gave(results)]
    calls = {f"ai.{era}.toolCalls": [{"toolCallType": "function", **USED, key: json.dumps(ARGUMENTS)}]}
    request = {"ai.prompt": {"system": PROMPT, "prompt": ASKED}, f"ai.{era}.text": TOLD}
    following = {"ai.prompt": {"system": PROMPT, "messages": [{"role": "user", "content": ASKED_NEXT}]}}
    arguments, result = {"ai.toolCall.args": ARGUMENTS}, {"ai.toolCall.result": RESULT}
    named = {"ai.toolCall.name": TOOL, "ai.toolCall.id": CALL}
    lists = [
        json.dumps(prompt(*m)["ai.prompt.messages"]) for m in (first[:1], first, [*first, said(TOLD), user(ASKED_NEXT)])
    ]
    given = [{"ai.prompt.messages": text} for text in lists]
    encoded = {name: json.dumps(value) for name, value in calls.items()}
    return [
        span("a1", own("ai.generateText", **request), lasts=9, scope="ai"),
        span("c1", own("ai.generateText.doGenerate", **given[0], **encoded), at=1, parent="a1", scope="ai"),
        span("t1", own("ai.toolCall", **named, **arguments, **result), at=3, parent="a1", scope="ai"),
        span(
            "c2",
            own("ai.generateText.doGenerate", **given[1], **{f"ai.{era}.text": TOLD}),
            at=5,
            parent="a1",
            scope="ai",
        ),
        span(
            "a2",
            own("ai.streamText", **following, **{f"ai.{era}.text": TOLD_NEXT}),
            at=20,
            lasts=9,
            trace="t2",
            scope="ai",
        ),
        span(
            "c3",
            own("ai.streamText.doStream", **given[2], **{f"ai.{era}.text": TOLD_NEXT}),
            at=21,
            trace="t2",
            parent="a2",
            scope="ai",
        ),
    ]


def without(spans: list[Span], *keys: str) -> list[Span]:
    kept = [{k: v for k, v in item.attributes.items() if not k.startswith(keys)} for item in spans]
    return [span_with(item, attributes) for item, attributes in zip(spans, kept, strict=True)]


def span_with(item: Span, attributes: dict[str, Any]) -> Span:
    return replace(item, attributes=attributes)


@pytest.mark.parametrize(("era", "key", "returned"), ERAS)
def test_every_era_gives_the_whole_conversation(era: str, key: str, returned: dict[str, Any]) -> None:
    (conversation,) = rebuild(two_turns(era, key, returned))

    assert shown(conversation) == WHOLE
    assert conversation.system_instructions == PROMPT
    assert conversation.conversation_id == "s-1"
    assert conversation.agent.name == "clerk"
    assert all(turn.gaps == () for turn in conversation.turns)


def test_without_metadata_the_history_joins_the_turns() -> None:
    (conversation,) = rebuild(without(two_turns(), "ai.telemetry.metadata"))

    assert shown(conversation) == WHOLE
    assert conversation.conversation_id_source is ConversationIdSource.HISTORY


def test_without_the_operation_id_the_operation_name_tells() -> None:
    (conversation,) = rebuild(without(two_turns(), "ai.operationId"))

    assert shown(conversation) == WHOLE


def test_with_inputs_off_the_users_words_are_a_gap_and_outputs_stay() -> None:
    (conversation,) = rebuild(without(two_turns(), "ai.prompt"))

    assert shown(conversation) == [(None, WHOLE[0][1], TOLD), (None, [], TOLD_NEXT)]
    assert all(turn.gaps == (GapKind.USER_INPUT_MISSING,) for turn in conversation.turns)


def test_with_outputs_off_replays_tell_what_they_can() -> None:
    spans = without(two_turns(), "ai.response", "ai.toolCall.args", "ai.toolCall.result")

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [WHOLE[0], (ASKED_NEXT, [], None)]
    assert conversation.turns[1].gaps == (GapKind.OUTPUT_MISSING,)


def test_with_both_off_the_structure_stays() -> None:
    spans = without(two_turns(), "ai.prompt", "ai.response", "ai.toolCall.args", "ai.toolCall.result")

    (conversation,) = rebuild(spans)

    assert [turn.output for turn in conversation.turns] == [None, None]
    assert all(GapKind.CONTENT_OFF in turn.gaps for turn in conversation.turns)
    assert {GapKind.TOOL_ARGUMENTS_MISSING, GapKind.TOOL_RESULT_MISSING} <= set(conversation.turns[0].gaps)


def test_a_tool_that_raised_has_its_error() -> None:
    failed = span(
        "t1", own("ai.toolCall", **{"ai.toolCall.name": TOOL, "ai.toolCall.id": CALL, "ai.toolCall.args": ARGUMENTS}),
        at=3, parent="a1", error=True,
    )  # fmt: skip
    spans = [failed if item.name == "t1" else item for item in two_turns()]

    (conversation,) = rebuild([item for item in spans if item.name in {"a1", "c1", "t1"}])

    assert conversation.turns[0].steps[-1].kind == "tool_result"
    assert shown(conversation)[0][1][-1][0] == "error"


def test_a_request_under_a_tool_is_a_sub_agent_nested_under_the_call() -> None:
    inner = {"ai.telemetry.functionId": "scout", "ai.prompt": {"prompt": "Find P-9."}, "ai.response.text": "Oslo."}
    asked = {"ai.prompt.messages": json.dumps([user("Find P-9.")]), "ai.telemetry.functionId": "scout"}
    used_by_scout = json.dumps([{"toolCallId": "call-scout-1", "toolName": "scan", "input": {"depot": 1}}])
    scan = {"ai.toolCall.name": "scan", "ai.toolCall.id": "call-scout-1", "ai.toolCall.args": {"depot": 1}}
    spans = [
        *two_turns()[:4],
        span("a9", own("ai.generateText", **inner), at=3, parent="t1"),
        span(
            "c9",
            own("ai.generateText.doGenerate", **asked, **{"ai.response.toolCalls": used_by_scout}),
            at=3,
            parent="a9",
        ),
        span("t9", own("ai.toolCall", **scan, **{"ai.toolCall.result": "none"}), at=4, parent="a9"),
    ]

    (conversation,) = rebuild(spans)

    (turn,) = conversation.turns
    nested = [step for step in turn.steps if getattr(step, "parent_call_id", None) == CALL]
    assert [(step.kind, getattr(step, "name", None)) for step in nested] == [
        ("tool_call", "scan"),
        ("tool_result", "scan"),
    ]
    assert turn.output == TOLD


def test_a_streamed_request_that_holds_the_text_of_all_its_steps_ends_with_the_last() -> None:
    first, second, *rest = two_turns()
    request = dict(first.attributes) | {"ai.response.text": f"Let me look.{TOLD}"}
    asking = dict(second.attributes) | {"ai.response.text": "Let me look."}

    (conversation,) = rebuild([span_with(first, request), span_with(second, asking), *rest[:2]])

    assert shown(conversation) == [(ASKED, [("says", "Let me look."), *WHOLE[0][1]], TOLD)]


def test_a_request_that_ended_with_a_call_was_answered_with_its_text() -> None:
    calls = json.dumps([{**USED, "input": ARGUMENTS}])
    request = {"ai.prompt": {"prompt": ASKED}, "ai.response.text": "One moment.", "ai.response.toolCalls": calls}

    (conversation,) = rebuild([span("a1", own("ai.generateText", **request))])

    assert shown(conversation)[0][::2] == (ASKED, "One moment.")


def test_an_object_is_an_answer() -> None:
    request = {"ai.prompt": {"prompt": ASKED}, "ai.response.object": '{"place":"Oslo"}'}

    (conversation,) = rebuild([span("a1", own("ai.generateObject", **request))])

    assert shown(conversation) == [(ASKED, [], '{"place":"Oslo"}')]


def test_a_model_call_has_its_reasoning_files_calls_tools_usage_and_ids() -> None:
    attributes = own(
        "ai.generateText.doGenerate",
        **{
            "ai.response.reasoning": "Hm.",
            "ai.response.files": json.dumps([{"type": "file", "mediaType": "image/png", "data": "AAAA"}]),
            "ai.response.toolCalls": json.dumps([{**USED, "input": ARGUMENTS}]),
            "ai.prompt.tools": [json.dumps({"type": "function", "name": TOOL, "inputSchema": {"type": "object"}})],
            "ai.response.id": "r-1",
            "ai.usage.promptTokens": 7,
            "ai.usage.completionTokens": "3",
        },
    )

    found = vercel_ai_legacy.read_span(span("c", attributes), MessageDecoder())

    (answer,) = found.output
    assert [type(part) for part in answer.parts] == [ReasoningPart, MediaPart, ToolCallPart]
    assert found.tool_definitions is not None
    assert (found.tool_definitions[0].name, found.tool_definitions[0].parameters) == (TOOL, {"type": "object"})
    assert (found.response_id, found.provider, found.model) == ("r-1", "openai", "m-1")
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (7, 3)


@pytest.mark.parametrize("operation", ["ai.embed", "ai.embed.doEmbed", "ai.rerank", "ai.transcribe", "ai.unheardOf"])
def test_other_operations_are_structure_only(operation: str) -> None:
    found = vercel_ai_legacy.read_span(span("x", own(operation, **{"ai.value": "text"})), MessageDecoder())

    assert found.kind is OperationKind.OTHER
    assert found.is_internal


def test_an_operation_name_of_another_kind_is_not_ours() -> None:
    assert not vercel_ai_legacy.sniffs_span(span("x", {"operation.name": "db.query"}))


def test_cut_values_are_gaps_and_half_a_call_is_none() -> None:
    attributes = own(
        "ai.generateText.doGenerate",
        **{
            "ai.prompt.messages": json.dumps([user(ASKED)])[:-9],
            "ai.response.toolCalls": json.dumps([{**USED, "input": ARGUMENTS}])[:-8],
        },
    )

    found = vercel_ai_legacy.read_span(span("c", attributes), MessageDecoder())

    assert GapKind.TRUNCATED in found.gaps
    assert found.input is not None
    assert GapKind.TRUNCATED in found.input.message.gaps
    (call,) = found.output[0].parts
    assert isinstance(call, ToolCallPart)
    assert (call.name, call.arguments) == (TOOL, None)
