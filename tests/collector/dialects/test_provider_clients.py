"""Habits of provider clients' instrumentations that cost a conversation something if they are taken at their word."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from collector.model import GapKind
from collector.telemetry.records import LogRecord, Span
from tests.support.flat_spans import ENDS, FIRST, LOOKED, RETURNED, SAYS, THEN, flat_calls, flattened
from tests.support.genai_spans import log, rebuild, rebuild_one, span
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

OTHER_CALL = "call-00000002"


def flat(prefix: str, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """OpenInference's attributes; calls are (id, name, arguments)."""
    found: dict[str, Any] = {}
    for index, message in enumerate(messages):
        start = f"{prefix}.{index}.message"
        for key, value in message.items():
            if key == "tool_calls":
                for position, (call_id, name, arguments) in enumerate(value):
                    own = f"{start}.tool_calls.{position}.tool_call"
                    found |= {f"{own}.id": call_id} if call_id else {}
                    found |= {f"{own}.function.name": name, f"{own}.function.arguments": json.dumps(arguments)}
            else:
                found[f"{start}.{key}"] = value
    return found


def llm(sent: Sequence[dict[str, Any]], given: Sequence[dict[str, Any]] = (), **more: Any) -> dict[str, Any]:
    own = {"openinference.span.kind": "LLM", "llm.model_name": "m-1"}
    named = {key.replace("__", "."): value for key, value in more.items()}
    return own | flat("llm.input_messages", sent) | flat("llm.output_messages", given) | named


def test_events_that_lend_the_users_role_to_a_prompt_and_to_a_result_are_what_their_names_say() -> None:
    """Gemini knows two roles, so its prompt and its results come under the user's."""
    bare = {"gen_ai.operation.name": "chat", "gen_ai.system": "vertex_ai", "gen_ai.request.model": "m-1"}
    wanted = {"function_call": {"name": TOOL, "args": ARGUMENTS}}
    first = [
        ("gen_ai.system.message", {"role": "user", "content": [{"text": PROMPT}]}),
        ("gen_ai.user.message", {"role": "user", "content": [{"text": ASKED}]}),
    ]
    second = [
        *first,
        ("gen_ai.assistant.message", {"role": "model", "content": [wanted]}),
        ("gen_ai.tool.message", {"role": "user", "id": f"{TOOL}_0", "content": RESULT}),
    ]
    asks = {"index": 0, "finish_reason": "stop", "message": {"role": "model", "content": [wanted]}}
    tells = {"index": 0, "finish_reason": "stop", "message": {"role": "model", "content": [{"text": TOLD}]}}
    items: list[Span | LogRecord] = [span("c1", bare, trace="a", lasts=9), span("c2", bare, trace="b", at=10, lasts=9)]
    for own, trace, at, told in (("c1", "a", 1, [*first, ("gen_ai.choice", asks)]),
                                 ("c2", "b", 11, [*second, ("gen_ai.choice", tells)])):  # fmt: skip
        items += [log(name, body, span_id=own, trace=trace, at=at + i) for i, (name, body) in enumerate(told)]

    conversation = rebuild_one(items)

    assert shown(conversation) == WHOLE[:1]
    assert conversation.system_instructions == PROMPT


def test_a_stream_that_was_recorded_before_it_was_read_is_no_answer() -> None:
    """The answers are known from the later lists, which also join the calls."""
    stream = {"output.value": "<client.Stream object at 0x7fbc49578650>"}
    prompt, asked = {"role": "system", "content": PROMPT}, {"role": "user", "content": ASKED}
    wanted = {"role": "assistant", "tool_calls": [(CALL, TOOL, ARGUMENTS)]}
    given = {"role": "tool", "tool_call_id": CALL, "content": json.dumps(RESULT)}
    told, asked_next = {"role": "assistant", "content": TOLD}, {"role": "user", "content": ASKED_NEXT}
    items = [
        span("c1", llm([prompt, asked]) | stream, trace="a"),
        span("c2", llm([prompt, asked, wanted, given]) | stream, trace="b", at=10),
        span("c3", llm([prompt, asked, wanted, given, told, asked_next]) | stream, trace="c", at=20),
    ]

    conversation = rebuild_one(items)

    assert shown(conversation) == [WHOLE[0], (ASKED_NEXT, [], None)]
    assert [turn.gaps for turn in conversation.turns] == [(), (GapKind.OUTPUT_MISSING,)]


def test_several_results_in_one_message_are_taken_from_the_request_that_names_their_calls() -> None:
    """Flattened, they are one message without ids; or of several with one key the last is left."""
    wanted = {"role": "assistant", "tool_calls": [(CALL, TOOL, ARGUMENTS), (OTHER_CALL, "weigh", ARGUMENTS)]}
    joint = {"role": "tool", "contents.0.message_content.text": json.dumps(RESULT),
             "contents.1.message_content.text": "9 kg"}  # fmt: skip
    blocks = [
        {"type": "tool_use", "id": CALL, "name": TOOL, "input": ARGUMENTS},
        {"type": "tool_use", "id": OTHER_CALL, "name": "weigh", "input": ARGUMENTS},
    ]
    results = [
        {"type": "tool_result", "tool_use_id": CALL, "content": json.dumps(RESULT)},
        {"type": "tool_result", "tool_use_id": OTHER_CALL, "content": "9 kg", "is_error": True},
    ]
    request = {
        "system": PROMPT,
        "messages": [
            {"role": "user", "content": ASKED},
            {"role": "assistant", "content": blocks},
            {"role": "user", "content": results},
        ],
    }
    asked = {"role": "user", "content": ASKED}
    items = [
        span("c1", llm([asked], [wanted]), trace="a"),
        span("c2", llm([asked, wanted, joint], [{"role": "assistant", "content": TOLD}],
                       input__value=json.dumps(request)), trace="b", at=10),
    ]  # fmt: skip

    conversation = rebuild_one(items)

    steps = [
        ("call", TOOL, ARGUMENTS),
        ("call", "weigh", ARGUMENTS),
        ("result", TOOL, RESULT),
        ("error", "weigh", "9 kg"),
    ]
    assert shown(conversation) == [(ASKED, steps, TOLD)]


def test_an_answer_of_which_only_the_text_was_recorded_is_gone_on_from() -> None:
    """The calls beside it, without ids, are in the later lists."""
    said = {"role": "assistant", "content": SAYS}
    items = [
        span("c1", flattened(FIRST, said), trace="a"),
        span("c2", flattened([*FIRST, said | flat_calls(), RETURNED], THEN), trace="b", at=10),
    ]

    assert shown(rebuild_one(items)) == [(ASKED, LOOKED, TOLD)]


def test_a_replay_that_leaves_out_the_calls_goes_on_from_them() -> None:
    said = {"role": "assistant", "content": SAYS} | flat_calls(CALL)
    items = [
        span("c1", flattened(FIRST, said), trace="a"),
        span("c2", flattened([*FIRST, {"role": "assistant"}, RETURNED], THEN), trace="b", at=10),
        span("c3", flattened([*FIRST, {"role": "assistant"}, RETURNED, THEN, {"role": "user", "content": ASKED_NEXT}],
                             {"role": "assistant", "content": TOLD_NEXT}), trace="c", at=20),
    ]  # fmt: skip

    assert shown(rebuild_one(items)) == [(ASKED, LOOKED, TOLD), WHOLE[1]]


def test_a_replay_without_its_calls_goes_on_from_neither_of_two_users_who_asked_the_same() -> None:
    """What either's tool was asked for would else be told of the other."""
    other = {"role": "assistant", "tool_calls.0.id": OTHER_CALL, "tool_calls.0.name": TOOL,
             "tool_calls.0.arguments": json.dumps({"parcel": "Q-1"})}  # fmt: skip
    items = [
        span("a1", flattened(FIRST, {"role": "assistant"} | flat_calls(CALL)), trace="a"),
        span("b1", flattened(FIRST, other), trace="b", at=5),
        span("a2", flattened([*FIRST, {"role": "assistant"}, RETURNED], THEN), trace="c", at=10),
    ]

    conversations = rebuild(items)

    assert sorted(len(conversation.turns[0].steps) for conversation in conversations) == [1, 1, 1]


def test_a_streamed_call_that_was_recorded_before_its_arguments_has_them_from_the_replay() -> None:
    """And is joined by its id, though another conversation began with the same words."""
    begun = {"role": "assistant", "tool_calls.0.id": CALL, "tool_calls.0.name": TOOL, "tool_calls.0.arguments": "{}"}
    greeted = [*FIRST[:1], {"role": "user", "content": "Hi"}]
    greets = {"role": "assistant", "content": "Hello."}
    asked = [*greeted, greets, {"role": "user", "content": ASKED}]
    items = [
        span("a1", flattened(greeted, greets), trace="a"),
        span("b1", flattened(greeted, greets), trace="b", at=5),
        span("a2", flattened(asked, begun), trace="c", at=10),
        span("a3", flattened([*asked, begun | flat_calls(CALL), RETURNED], THEN), trace="d", at=20),
        span("b2", flattened([*greeted, greets, {"role": "user", "content": ASKED_NEXT}],
                             {"role": "assistant", "content": TOLD_NEXT}), trace="e", at=30),
    ]  # fmt: skip

    told = sorted((shown(conversation) for conversation in rebuild(items)), key=len)

    assert told == [[("Hi", [], "Hello."), WHOLE[1]], [("Hi", [], "Hello."), WHOLE[0]]] or told == [
        [("Hi", [], "Hello."), WHOLE[0]],
        [("Hi", [], "Hello."), WHOLE[1]],
    ]


def test_results_whose_calls_no_message_tells_of_are_those_of_the_tool_spans() -> None:
    kind = {"traceloop.span.kind": "workflow", "traceloop.entity.name": "desk"}
    tool = {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": TOOL,
        "traceloop.entity.input": json.dumps({"args": [], "kwargs": ARGUMENTS}),
        "traceloop.entity.output": json.dumps(RESULT),
    }
    items = [
        span("w", kind, lasts=40),
        span("c1", flattened(FIRST, {"role": "assistant"}), at=1, lasts=5, parent="w"),
        span("x", tool, at=7, lasts=2, parent="w"),
        span("c2", flattened([*FIRST, {"role": "assistant"}, RETURNED], THEN), at=10, lasts=5, parent="w"),
    ]

    conversation = rebuild_one(items)

    assert shown(conversation) == WHOLE[:1]
    assert conversation.turns[0].gaps == ()


def test_an_answer_that_is_replayed_one_message_a_piece_is_one_message() -> None:
    """A client's chat keeps what a stream yielded, calls among it."""
    pieces = [{"role": "model", "content": piece} for piece in ("I", " will", " look.")]
    wanted = {"role": "model", "tool_calls": [(None, TOOL, ARGUMENTS)]}
    told = [{"role": "model", "content": piece} for piece in ("Parcel P-9", " is in", " Oslo.")]
    asked, asked_next = {"role": "user", "content": ASKED}, {"role": "user", "content": ASKED_NEXT}
    given = {"role": "tool", "name": TOOL, "content": json.dumps(RESULT)}
    first = [asked, *pieces, wanted, given]
    items = [
        span(
            "c1", llm([asked], [{"role": "model", "content": SAYS, "tool_calls": [(None, TOOL, ARGUMENTS)]}]), trace="a"
        ),
        span("c2", llm(first, [{"role": "model", "content": TOLD}]), trace="b", at=10),
        span("c3", llm([*first, *told, asked_next], [{"role": "model", "content": TOLD_NEXT}]), trace="c", at=20),
    ]

    assert shown(rebuild_one(items)) == [(ASKED, LOOKED, TOLD), WHOLE[1]]
    assert shown(rebuild_one(items[2:])) == [(ASKED, LOOKED, TOLD), WHOLE[1]]


def test_a_replay_that_kept_the_text_alone_goes_on_from_the_calls_beside_it() -> None:
    asked, given = {"role": "user", "content": ASKED}, {"role": "tool", "name": TOOL, "content": json.dumps(RESULT)}
    said = {"role": "assistant", "content": SAYS}
    items = [
        span("c1", llm([asked], [said | {"tool_calls": [(None, TOOL, ARGUMENTS)]}]), trace="a"),
        span("c2", llm([asked, said, given], [{"role": "assistant", "content": TOLD}]), trace="b", at=10),
    ]

    assert shown(rebuild_one(items)) == [(ASKED, LOOKED, TOLD)]


def test_an_answer_of_which_the_end_was_recorded_is_told_in_the_order_of_its_replay() -> None:
    """Of a stream the last chunk alone: the second of two calls, which the replay puts after the text and the first."""
    wanted = [(None, TOOL, ARGUMENTS), (None, "weigh", ARGUMENTS)]
    asked = {"role": "user", "content": ASKED}
    given = [{"role": "tool", "content": json.dumps(RESULT)}, {"role": "tool", "content": "9 kg"}]
    replay = {"role": "assistant", "content": SAYS, "tool_calls": wanted}
    items = [
        span("c1", llm([asked], [{"role": "assistant", "tool_calls": wanted[1:]}]), trace="a"),
        span("c2", llm([asked, replay, *given], [{"role": "assistant", "content": TOLD}]), trace="b", at=10),
    ]

    conversation = rebuild_one(items)

    called = [("call", TOOL, ARGUMENTS), ("call", "weigh", ARGUMENTS)]
    assert shown(conversation) == [
        (ASKED, [("says", SAYS), *called, ("result", TOOL, RESULT), ("result", "weigh", "9 kg")], TOLD)
    ]


def test_a_conversation_that_the_provider_keeps_is_named_in_the_request() -> None:
    kept = {"llm.invocation_parameters": json.dumps({"model": "m-1", "conversation": {"id": "conv_1"}})}
    items = [
        span("c1", kept | llm([{"role": "user", "content": ASKED}], [THEN]), trace="a"),
        span("c2", kept | llm([{"role": "user", "content": ASKED_NEXT}], [ENDS]), trace="b", at=10),
    ]

    conversation = rebuild_one(items)

    assert conversation.conversation_id == "conv_1"
    assert shown(conversation) == [(ASKED, [], TOLD), WHOLE[1]]


def test_a_session_of_the_application_is_surer_than_the_conversation_that_the_provider_keeps() -> None:
    kept = {"llm.invocation_parameters": json.dumps({"conversation": "conv_1"}), "session.id": "s-1"}

    conversation = rebuild_one([span("c1", llm([{"role": "user", "content": ASKED}]) | kept)])

    assert conversation.conversation_id == "s-1"


def test_a_call_without_arguments_that_leaves_their_attribute_out_has_none() -> None:
    bare = llm([{"role": "user", "content": ASKED}], [{"role": "assistant", "tool_calls": [(CALL, "list_all", {})]}])
    del bare["llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments"]

    conversation = rebuild_one([span("c1", bare, scope="openinference.instrumentation.openai")])

    assert shown(conversation)[0][1] == [("call", "list_all", {})]
    assert GapKind.TOOL_ARGUMENTS_MISSING not in conversation.turns[0].gaps


def test_calls_with_the_items_ids_on_one_side_and_their_own_on_the_other_are_the_same_by_what_they_say() -> None:
    items = [
        span("c1", flattened(FIRST, {"role": "assistant"} | flat_calls("fc_00000001")), trace="a"),
        span(
            "c2",
            flattened([*FIRST, {"role": "assistant"} | flat_calls("call_00000001"), RETURNED], THEN),
            trace="b",
            at=10,
        ),
    ]

    assert shown(rebuild_one(items)) == WHOLE[:1]
