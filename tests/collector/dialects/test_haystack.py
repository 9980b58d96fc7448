from __future__ import annotations

import json
from typing import Any

import pytest

from collector.dialects import haystack
from collector.messages.decoder import MessageDecoder
from collector.model import GapKind
from collector.operation import OperationKind
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

SCOPE = "haystack"
COMPONENT = "haystack.component."
DEFINITION = {"name": TOOL, "description": "Finds a parcel.", "parameters": {"type": "object"}, "function": "shop.find"}
TOOLS = [{"type": "haystack.tools.tool.Tool", "data": DEFINITION}]
WANTED = {"tool_name": TOOL, "arguments": ARGUMENTS, "id": CALL, "extra": None}


def message(role: str, *content: dict[str, Any]) -> dict[str, Any]:
    meta = {"model": "m-1", "usage": {"prompt_tokens": 7, "completion_tokens": 2}} if role == "assistant" else {}
    return {"role": role, "meta": meta, "name": None, "content": list(content)}


def text(role: str, words: str) -> dict[str, Any]:
    return message(role, {"text": words})


def result(value: Any, *, error: bool = False) -> dict[str, Any]:
    return message("tool", {"tool_call_result": {"result": json.dumps(value), "origin": WANTED, "error": error}})


ASKS = message("assistant", {"tool_call": WANTED})
FIRST = [text("system", PROMPT), text("user", ASKED)]
SECOND = [*FIRST, ASKS, result(RESULT)]
THIRD = [*SECOND, text("assistant", TOLD), text("user", ASKED_NEXT)]


def tags(**values: Any) -> dict[str, Any]:
    named = {f"haystack.{key.replace('__', '.')}": value for key, value in values.items()}
    return {key: value if isinstance(value, (str, bool, int)) else json.dumps(value) for key, value in named.items()}


def own(span_id: str, name: str, attributes: dict[str, Any], **more: Any) -> Span:
    return span(span_id, attributes, name=f"haystack.{name}", scope=SCOPE, **more)


def printed(value: Any) -> str:
    """What Python prints of messages that stand beside a value which is no JSON."""
    if isinstance(value, dict) and "role" in value:
        return (
            f"ChatMessage(_role=<ChatRole.{value['role'].upper()}: '{value['role']}'>, "
            f"_content=[{', '.join(_block(block) for block in value['content'])}], _name=None, _meta={{}})"
        )
    return "[" + ", ".join(printed(item) for item in value) + "]"


def _block(block: dict[str, Any]) -> str:
    ((kind, inner),) = block.items()
    if kind == "text":
        return f"TextContent(text={inner!r})"
    if kind == "tool_call":
        return f"ToolCall(tool_name={TOOL!r}, arguments={ARGUMENTS!r}, id={CALL!r}, extra=None)"
    return f"ToolCallResult(result={inner['result']!r}, origin={_block({'tool_call': WANTED})}, error=False)"


def given(messages: list[dict[str, Any]], *, as_printed: bool) -> str:
    if as_printed:
        tool = f"Tool(name={TOOL!r}, parameters={{'type': 'object'}}, function=<function find at 0x7f00>)"
        callback = "<function run.<locals>.<lambda> at 0x7f01>"
        return f"{{'messages': {printed(messages)}, 'tools': [{tool}], 'streaming_callback': {callback}}}"
    return json.dumps({"messages": messages, "tools": TOOLS, "streaming_callback": None})


def step(span_id: str, sent: list[dict[str, Any]], reply: dict[str, Any], *, as_printed: bool, **more: Any) -> Span:
    attributes = {
        "haystack.agent.step.llm.input": given(sent, as_printed=as_printed),
        "haystack.agent.step.llm.output": json.dumps({"replies": [reply]}),
    }
    return own(span_id, "agent.step.llm", attributes, **more)


def agent_in_pipeline(*, as_printed: bool = False) -> list[Span]:
    def around(number: int, sent: list[dict[str, Any]], every: list[dict[str, Any]], **at: Any) -> list[Span]:
        pipeline, component, run = f"p{number}", f"s{number}", f"r{number}"
        called, returned = {"messages": sent}, {"messages": every, "step_count": 2}
        kind = tags(component__name="clerk", component__type="Agent", component__input=called)
        agent = tags(agent__tools=TOOLS, agent__max_steps=9, agent__input=called, agent__output=returned)
        whole = tags(pipeline__input_data={"clerk": called}, pipeline__output_data={"clerk": returned})
        return [
            own(run, "agent.run", agent, parent=component, **at),
            own(component, "component.run", kind, parent=pipeline, **at),
            own(pipeline, "pipeline.run", whole, **at),
        ]

    parcel = tags(tool__name=TOOL, agent__step__tool__input=ARGUMENTS, agent__step__tool__output=RESULT)
    return [
        step("c1", FIRST, ASKS, at=1, parent="r1", as_printed=as_printed),
        own("t", "agent.step.tool", parcel, at=2, parent="r1"),
        step("c2", SECOND, text("assistant", TOLD), at=3, parent="r1", as_printed=as_printed),
        *around(1, FIRST[1:], [*SECOND, text("assistant", TOLD)], lasts=9),
        step("c3", THIRD, text("assistant", TOLD_NEXT), at=21, trace="t2", parent="r2", as_printed=as_printed),
        *around(2, THIRD[1:], [*THIRD, text("assistant", TOLD_NEXT)], at=20, lasts=9, trace="t2"),
    ]


def chat_in_pipeline() -> list[Span]:
    """A pipeline with one generator, run once for each call; the application runs the tool."""
    spans: list[Span] = []
    replies = [ASKS, text("assistant", TOLD), text("assistant", TOLD_NEXT)]
    for number, (sent, reply) in enumerate(zip((FIRST, SECOND, THIRD), replies, strict=True)):
        called, returned = {"messages": sent, "tools": TOOLS}, {"replies": [reply]}
        component = tags(
            component__name="llm",
            component__type="AnyChatGenerator",
            component__output_spec={"replies": {"type": "list", "receivers": []}},
            component__input=called,
            component__output=returned,
        )
        whole = tags(pipeline__input_data={"llm": called}, pipeline__output_data={"llm": returned})
        at = {"at": 10 * number, "trace": f"t{number}"}
        spans += [
            own(f"c{number}", "component.run", component, parent=f"p{number}", **at),
            own(f"p{number}", "pipeline.run", whole, lasts=5, **at),
        ]
    return spans


def older(value: dict[str, Any]) -> dict[str, Any]:
    """A message as releases before 2.12 write it."""
    return {f"_{key}": member for key, member in value.items()}


def agent_of_release_2() -> list[Span]:
    """Generator and tool invoker are components of the agent; messages have underscores."""

    def generator(span_id: str, sent: list[dict[str, Any]], reply: dict[str, Any], **more: Any) -> Span:
        attributes = tags(
            component__type="OpenAIChatGenerator",
            component__name="chat_generator",
            component__input={"messages": [older(one) for one in sent]},
            component__output={"replies": [older(reply)]},
        )
        return own(span_id, "component.run", attributes, **more)

    invoker = tags(
        component__type="ToolInvoker",
        component__name="tool_invoker",
        component__input={"messages": [older(ASKS)]},
        component__output={"tool_messages": [older(result(RESULT))], "state": {}},
    )
    first = tags(agent__max_steps=9, agent__input={"messages": [older(one) for one in FIRST]})
    second = tags(agent__max_steps=9, agent__input={"messages": [older(one) for one in THIRD]})
    return [
        generator("c1", FIRST, ASKS, at=1, parent="r1"),
        own("t", "component.run", invoker, at=2, parent="r1"),
        generator("c2", SECOND, text("assistant", TOLD), at=3, parent="r1"),
        own("r1", "agent.run", first, lasts=9),
        generator("c3", THIRD, text("assistant", TOLD_NEXT), at=21, trace="t2", parent="r2"),
        own("r2", "agent.run", second, at=20, lasts=9, trace="t2"),
    ]


@pytest.mark.parametrize(
    "spans",
    [agent_in_pipeline(), agent_in_pipeline(as_printed=True), chat_in_pipeline(), agent_of_release_2()],
    ids=["agent", "streamed-agent", "chat", "release-2"],
)
def test_every_form_is_the_same_conversation(spans: list[Span]) -> None:
    (conversation,) = rebuild(spans)

    assert shown(conversation) == WHOLE
    assert conversation.system_instructions == PROMPT
    assert [turn.gaps for turn in conversation.turns] == [(), ()]
    assert [turn.model for turn in conversation.turns] == ["m-1", "m-1"]


def test_the_agent_is_named_after_its_component_and_has_the_tools_it_was_given() -> None:
    (conversation,) = rebuild(agent_in_pipeline())

    assert conversation.agent.name == "clerk"
    assert [(tool.name, tool.description) for tool in conversation.tool_definitions] == [(TOOL, "Finds a parcel.")]
    assert [turn.input_tokens for turn in conversation.turns] == [14, 7]


def test_a_tool_that_failed_says_so_in_its_output_and_not_in_its_status() -> None:
    failed = tags(
        tool__name=TOOL,
        tool__error=True,
        agent__step__tool__input=ARGUMENTS,
        agent__step__tool__output={"error": "Failed to invoke: no such parcel"},
    )
    spans = [
        step("c1", FIRST, ASKS, at=1, parent="r1", as_printed=False),
        own("t", "agent.step.tool", failed, at=2, parent="r1"),
        own("r1", "agent.run", tags(agent__input={"messages": FIRST}), lasts=9),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation)[0][1][-1] == ("error", TOOL, "Failed to invoke: no such parcel")


@pytest.mark.parametrize(
    ("inputs", "asked"),
    [
        ({"retriever": {"query": ASKED, "top_k": 3}, "prompt": {"question": f"{ASKED}\n"}}, ASKED),
        ({"llm": {"messages": FIRST}, "ranker": {"query": "something else"}}, ASKED),
        ({"retriever": {"query": "parcel P-9"}, "prompt": {"question": ASKED, "tone": "polite"}}, None),
    ],
    ids=["one-text-for-several", "one-message-list", "several-texts"],
)
def test_what_the_user_said_to_a_pipeline_is_taken_from_where_it_is_certain(
    inputs: dict[str, Any], asked: str | None
) -> None:
    generator = tags(
        component__type="OpenAIGenerator",
        component__output_spec={"replies": {"type": "list"}, "meta": {"type": "list"}},
        component__input={"prompt": f"Answer from these pages: none.\nQuestion: {ASKED}"},
        component__output={"replies": [TOLD], "meta": [{"model": "m-2", "usage": {"prompt_tokens": 4}}]},
    )
    whole = tags(pipeline__input_data=inputs, pipeline__output_data={"llm": {"replies": [TOLD]}, "x": {"n": 1}})
    spans = [own("c", "component.run", generator, at=1, parent="p"), own("p", "pipeline.run", whole, lasts=5)]

    (conversation,) = rebuild(spans)

    (turn,) = conversation.turns
    assert turn.output == TOLD
    assert turn.user_input == (asked or f"Answer from these pages: none.\nQuestion: {ASKED}")
    assert (turn.model, turn.input_tokens) == ("m-2", 4)


def test_without_content_the_names_of_the_tracers_spans_tell_the_structure() -> None:
    spans = [
        own("c1", "agent.step.llm", {}, at=1, parent="s1"),
        own("t", "agent.step.tool", tags(tool__name=TOOL), at=2, parent="s1"),
        own("s1", "agent.step", {"haystack.agent.step": 0}, at=1, parent="r1"),
        own("r1", "agent.run", tags(agent__max_steps=9), lasts=9),
    ]

    (conversation,) = rebuild(spans)

    (turn,) = conversation.turns
    assert shown(conversation) == [(None, [("call", TOOL, None)], None)]
    assert set(turn.gaps) >= {GapKind.CONTENT_OFF, GapKind.TOOL_RESULT_MISSING}


def test_components_that_ask_no_model_are_structure_only() -> None:
    attributes = tags(component__type="PromptBuilder", component__output_spec={"prompt": {"type": "str"}})

    operation = haystack.read_span(own("x", "component.run", attributes), MessageDecoder())

    assert operation.kind is OperationKind.OTHER


@pytest.mark.parametrize(
    ("value", "gap"),
    [
        ("{'messages': [ChatMessage(_role=", GapKind.UNDECODABLE),
        ('{"messages": [{"role": "user", "content": [{"text": "Where is', GapKind.TRUNCATED),
    ],
    ids=["printed-and-cut", "json-and-cut"],
)
def test_an_input_that_was_cut_is_a_gap_and_never_somebodys_words(value: str, gap: GapKind) -> None:
    attributes = {"haystack.agent.step.llm.input": value}

    operation = haystack.read_span(own("c", "agent.step.llm", attributes), MessageDecoder())

    said = operation.input.messages() if operation.input is not None else ()
    assert gap in operation.gaps
    assert not any("messages" in getattr(part, "text", "") for one in said for part in one.parts)


@pytest.mark.parametrize(
    ("scope", "name", "known"),
    [(SCOPE, "haystack.agent.step.llm", True), ("shop", "haystack.agent.step.llm", False), (SCOPE, "other", False)],
)
def test_a_name_alone_is_no_sign(scope: str, name: str, *, known: bool) -> None:
    assert haystack.sniffs_span(span("x", {}, name=name, scope=scope)) is known
