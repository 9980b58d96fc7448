"""Operations come back from their bytes as they were, whatever telemetry may hold."""

from __future__ import annotations

import sqlite3
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.live.codec import (
    FIELD_CODES,
    decode_fragment,
    decode_message,
    encode_fragment,
    encode_message,
    references_of,
)
from collector.live.content_reader import ContentReader
from collector.live.contents import Contents
from collector.live.packing import pack, unpack
from collector.live.schema import migrate
from collector.messages.digests import extend, with_digest
from collector.model import Agent, GapKind, ToolDefinition
from collector.operation import (
    CompactionPart,
    EventMessage,
    MediaPart,
    Message,
    Operation,
    OperationKind,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
)

MESSAGES = (
    with_digest(Message(role=Role.SYSTEM, parts=(TextPart("Be kind."),))),
    with_digest(Message(role=Role.USER, parts=(TextPart("Hi"), MediaPart("image", "image/png", "file:1")), name="Ann")),
    with_digest(
        Message(
            role=Role.ASSISTANT,
            parts=(ReasoningPart("hm"), ToolCallPart("find", {"q": [1, 2.5, None, True, "ß"]}, "call-1")),
            gaps=(GapKind.TRUNCATED,),
        )
    ),
    with_digest(Message(role=Role.TOOL, parts=(ToolResultPart({"n": 2**70}, "call-1", "find", is_error=True),))),
    with_digest(Message(role=Role.ASSISTANT, parts=(CompactionPart("earlier"), TextPart("lone \ud800")))),
)

FULL = Operation(
    trace_id="0af7651916cd43dd8448eb211c80319c",
    span_id="b7ad6b7169203331",
    dialect="a+b",
    kind=OperationKind.MODEL_CALL,
    name="chat",
    parent_span_id="",
    start_ns=1_790_000_000_000_000_000,
    end_ns=1_790_000_000_000_000_001,
    service="shop",
    scope="scope",
    resource={"service.name": "shop"},
    conversation_id="c",
    conversation_id_rank=3,
    response_id="r",
    previous_response_id="p",
    model="m",
    provider="o",
    agent=Agent(name="robin", id="1", version="2"),
    system_instructions="Be kind.",
    tool_definitions=(ToolDefinition("find", "Finds.", {"type": "object"}), ToolDefinition("buy")),
    input=extend(None, MESSAGES),
    input_is_delta=True,
    output=MESSAGES[2:],
    events=(EventMessage(time_ns=5, position=1, message=MESSAGES[1], is_output=True),),
    tool_name="find",
    call_id="call-1",
    arguments={"q": 2**80},
    result="lone \udfff",
    has_arguments=True,
    has_result=True,
    from_agent="a",
    to_agent="b",
    is_error=True,
    error="Timeout",
    usage=Usage(input_tokens=3),
    is_internal=True,
    gaps=(GapKind.REDACTED, GapKind.TRUNCATED),
    is_stand_in=True,
)
BARE = Operation(trace_id="t", span_id="s", dialect="", kind=OperationKind.OTHER)


@pytest.fixture
def database():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    yield connection
    connection.close()


@pytest.mark.parametrize("operation", [FULL, BARE], ids=["every field", "no field"])
def test_an_operation_comes_back_as_it_was(operation, database):
    contents = Contents(database, cache_bytes=1_000_000)

    data, references = encode_fragment(operation, contents)
    contents.hold(references)
    contents.flush()

    assert decode_fragment(data, ContentReader(database, cache_bytes=1_000_000)) == operation
    assert references_of(data) == references


def test_the_full_operation_leaves_no_field_at_its_default():
    assert [field.name for field in fields(Operation) if getattr(FULL, field.name) == getattr(BARE, field.name)] == []


def test_every_field_has_a_code_of_its_own():
    assert set(FIELD_CODES) == {field.name for field in fields(Operation)}
    assert len(set(FIELD_CODES.values())) == len(FIELD_CODES)


def test_equal_operations_have_equal_bytes_after_a_restart(database):
    first = Contents(database, cache_bytes=1_000_000)
    data, references = encode_fragment(FULL, first)
    first.hold(references)
    first.flush()

    again, _ = encode_fragment(FULL, Contents(database, cache_bytes=1_000_000))

    assert again == data


def test_a_field_from_the_future_is_passed_over(database):
    data = pack([1, "t", 2, "s", 3, "d", 4, "other", 999, "unknown"])

    assert decode_fragment(data, ContentReader(database, cache_bytes=1_000)).trace_id == "t"


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.role.value)
def test_a_message_comes_back_as_it_was(message):
    assert decode_message(encode_message(message)) == message


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters())
JSON = st.deferred(
    lambda: st.one_of(SCALARS, st.lists(JSON, max_size=3), st.dictionaries(st.text(st.characters()), JSON, max_size=3))
)


@settings(max_examples=150, deadline=None)
@given(JSON)
def test_any_json_value_comes_back_as_it_was(value):
    assert unpack(pack(value)) == value
