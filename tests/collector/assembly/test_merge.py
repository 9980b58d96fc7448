from __future__ import annotations

from itertools import permutations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.assembly.merge import merge, settle
from collector.messages.digests import extend
from collector.messages.shapes import messages_of
from collector.model import Agent, GapKind
from collector.operation import EventMessage, Operation, OperationKind, Role, Usage

TEXTS = st.one_of(st.none(), st.sampled_from(["", "a", "b", "longer"]))
MESSAGES = st.sampled_from([messages_of({"role": r, "content": c})[0] for r in ("user", "assistant") for c in "xyz"])


@st.composite
def operations(draw: Any) -> Operation:
    messages = draw(st.lists(MESSAGES, max_size=3))
    return Operation(
        trace_id="t",
        span_id="s",
        dialect=draw(st.sampled_from(["one", "two", "one+two"])),
        kind=draw(st.sampled_from(OperationKind)),
        name=draw(st.sampled_from(["", "n", "name"])),
        parent_span_id=draw(st.sampled_from([None, "", "p", "q"])),
        start_ns=draw(st.integers(0, 3)),
        end_ns=draw(st.integers(0, 3)),
        service=draw(TEXTS),
        conversation_id=draw(TEXTS),
        conversation_id_rank=draw(st.integers(0, 2)),
        response_id=draw(TEXTS),
        agent=draw(st.sampled_from([None, Agent(name="a"), Agent(name="b", id="1")])),
        input=extend(None, messages),
        input_is_delta=draw(st.booleans()),
        output=tuple(draw(st.lists(MESSAGES, max_size=2))),
        events=tuple(
            EventMessage(draw(st.integers(0, 2)), draw(st.integers(0, 2)), message, is_output=draw(st.booleans()))
            for message in draw(st.lists(MESSAGES, max_size=2))
        ),
        arguments=draw(st.sampled_from([None, {"a": 1}, "text"])),
        has_arguments=draw(st.booleans()),
        is_error=draw(st.booleans()),
        usage=draw(st.sampled_from([None, Usage(1, None), Usage(None, 2), Usage(3, 1)])),
        gaps=tuple(sorted(draw(st.sets(st.sampled_from(GapKind), max_size=2)))),
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(operations(), min_size=1, max_size=3))
def test_order_and_grouping_do_not_matter(fragments: list[Operation]) -> None:
    normal = [merge([fragment, fragment, fragment]) for fragment in fragments]
    whole = merge([*normal, *normal])

    for order in permutations(normal):
        assert merge(order) == merge([merge(order[:-1]) if order[:-1] else order[0], order[-1]])
        assert merge([*order, *order]) == whole


@settings(max_examples=60, deadline=None)
@given(operations())
def test_settling_twice_changes_nothing(operation: Operation) -> None:
    once = settle(operation)

    assert settle(once) == once


def test_events_become_lists_in_order_of_time() -> None:
    said = {text: messages_of({"role": "user", "content": text})[0] for text in ("one", "two")}
    answer = messages_of({"role": "assistant", "content": "three"})[0]
    base = Operation("t", "s", "d", OperationKind.MODEL_CALL)
    late = Operation("t", "s", "d", OperationKind.MODEL_CALL, events=(EventMessage(2, 0, said["two"]),))
    early = Operation("t", "s", "d", OperationKind.MODEL_CALL, events=(EventMessage(1, 5, said["one"]),))
    last = Operation("t", "s", "d", OperationKind.MODEL_CALL, events=(EventMessage(3, 0, answer, is_output=True),))

    found = settle(merge([last, late, base, early, late]))

    assert found.input is not None
    assert found.input.messages() == (said["one"], said["two"])
    assert [message.role for message in found.output] == [Role.ASSISTANT]
