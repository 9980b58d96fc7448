from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.model import GapKind, TurnStatus
from evaluators.content import content_digest
from evaluators.store.unit_codec import decode_unit, encode_unit
from evaluators.store.verdict_codec import decode_verdict, encode_verdict
from evaluators.verdict import Evidence, JudgeInfo, Outcome, UnitKind, Verdict
from tests.support.conversations import ConversationBuilder, conversation_unit, tool, turn_unit


def rich_unit():
    return conversation_unit(
        ConversationBuilder(system="Be kind.", tools=(tool("look", "Looks.", q={"type": "string"}), "act"))
        .turn("你好 👋", gaps=[GapKind.TRUNCATED, GapKind.TOOL_RESULT_MISSING])
        .say("One moment.", agent="helper")
        .call("look", {"q": [1, 2.5, None, True, {"a": "b"}]}, result={"found": [1]}, group=2)
        .call("look", "not json", result=None, error=True)
        .call("act", {})
        .handoff("billing", from_agent="front")
        .answer("")
        .turn(None, status=TurnStatus.INCOMPLETE)
        .build(resource={"service.name": "shop"}),
        revision=3,
    )


def test_a_unit_survives_the_way_there_and_back():
    unit = rich_unit()

    assert decode_unit(encode_unit(unit)) == unit


def test_arguments_that_nobody_sent_stay_unknown():
    unit = turn_unit(ConversationBuilder().turn("x").call("a").build())
    step = replace(unit.turn.steps[0], arguments=None)
    unit = replace(unit, conversation=replace(unit.conversation, turns=(replace(unit.turn, steps=(step,)),)))

    assert decode_unit(encode_unit(unit)).turn.steps[0].arguments is None


@pytest.mark.parametrize("body", [b"", b"{}", b'{"kind": "turn"}', b"[1]", b"nonsense"])
def test_what_is_no_unit_is_refused(body):
    with pytest.raises((ValueError, KeyError, TypeError)):
        decode_unit(body)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=80, deadline=None)
@given(json_values, json_values, st.text(st.characters(exclude_categories=())))
def test_any_content_survives_with_its_digest(arguments, result, text):
    unit = turn_unit(
        ConversationBuilder(system=text).turn(text).call(text, arguments, result=result).answer(text).build()
    )

    again = decode_unit(encode_unit(unit))

    assert content_digest(again) == content_digest(unit)
    assert again.turn.user_input == text


def test_a_verdict_survives_the_way_there_and_back():
    verdict = Verdict(
        id="v",
        evaluator="rules",
        evaluator_version="1",
        rubric_version="r",
        unit_kind=UnitKind.TURN,
        unit_key="turn:k",
        revision=1,
        conversation_id="c",
        service=None,
        agent_name="robin",
        agent_version=None,
        trace_id="t",
        span_id="s",
        target_end_ns=5,
        response_id=None,
        outcome=Outcome.FAIL,
        score=0.0,
        label="fail",
        reason="退款",
        evidence=(Evidence(0, None, "q"), Evidence(1, 2, "p", "s")),
        details={"rules": [{"name": "n", "count": 1}]},
        judge=JudgeInfo(name="m", calls=1, cost_usd=None, duration_s=0.5),
        judged_ns=7,
        supersedes="u",
    )

    assert decode_verdict(encode_verdict(verdict)) == verdict
