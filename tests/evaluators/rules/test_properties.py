"""What holds for any conversation: rules agree with a plain reading of it, and nothing in it makes them raise."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.model import GapKind, ToolCallStep
from evaluators.finding import Status
from evaluators.rules.declared import read_rules
from evaluators.timeline import timeline_of
from evaluators.verdict import Outcome
from tests.support.conversations import ConversationBuilder, conversation_unit, turn_unit
from tests.support.rules import find, judge

TOOLS = ("a", "b", "c")
RULES = [
    {"before": "a", "require": "b"},
    {"before": "a", "require": "b", "require_result": {"fine": True}},
    {"after": "a", "require": "c"},
    {"never": "a", "where": {"n": {"gt": 1}}},
    {"require": "c"},
    {"max_calls": 3},
    {"max_repeats": 1},
    {"confirm": "a"},
    {"provenance": "a", "arguments": "n"},
]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
calls = st.tuples(st.sampled_from(TOOLS), st.integers(0, 3), st.sampled_from(["ok", "refused", "error", "missing"]))
scripts = st.lists(st.lists(calls, max_size=5), min_size=1, max_size=4)
few = settings(max_examples=60, deadline=None)


def conversation(script):
    builder = ConversationBuilder(tools=TOOLS)
    for steps in script:
        builder.turn("Please do it, number 2")
        for tool, n, outcome in steps:
            if outcome == "missing":
                builder.call(tool, {"n": n})
            else:
                builder.call(tool, {"n": n}, result={"fine": outcome == "ok"}, error=outcome == "error")
        builder.answer("There you are.")
    return builder.build()


@few
@given(scripts)
def test_order_agrees_with_a_plain_reading(script):
    flat = [(tool, outcome) for steps in script for tool, _, outcome in steps]
    broken = any(
        tool == "a" and not any(name == "b" and outcome != "error" for name, outcome in flat[:position])
        for position, (tool, _) in enumerate(flat)
    )

    assert (find({"before": "a", "require": "b"}, conversation(script)).status is Status.FAIL) is broken


@few
@given(scripts)
def test_counts_agree_with_a_plain_reading(script):
    count = sum(len(steps) for steps in script)
    repeats = max((steps.count(step) for steps in map(_identities, script) for step in steps), default=0)

    assert (find({"max_calls": 3}, conversation(script)).status is Status.FAIL) is (count > 3)
    assert (find({"max_repeats": 1}, conversation(script)).status is Status.FAIL) is (repeats > 1)


@few
@given(scripts)
def test_a_conversation_breaks_a_rule_where_one_of_its_turns_does(script):
    judged = conversation(script)
    on_turns = [rule for rule in RULES if rule != {"require": "c"}]

    for rule in on_turns:
        whole = find(rule, judged)
        parts = [find(rule, turn_unit(judged, index)) for index in range(len(judged.turns))]
        assert sum(part.count for part in parts) == whole.count, rule


@few
@given(scripts)
def test_a_verdict_is_the_same_each_time(script):
    unit = conversation_unit(conversation(script))

    assert judge(RULES, unit) == judge(RULES, unit)


@few
@given(scripts)
def test_evidence_of_calls_points_at_calls(script):
    judged = conversation(script)

    for piece in judge(RULES, judged, checks=False).evidence:
        if piece.step is not None:
            step = judged.turns[piece.turn].steps[piece.step]
            assert isinstance(step, ToolCallStep) is piece.quote.startswith(tuple(f"{tool} " for tool in TOOLS))


@few
@given(scripts, st.sampled_from([GapKind.HISTORY_UNSEEN]))
def test_an_unseen_past_never_makes_a_rule_about_the_past_fail(script, gap):
    judged = conversation(script)
    turns = (replace(judged.turns[0], gaps=(gap,)), *judged.turns[1:])

    for rule in RULES[:2]:
        assert find(rule, replace(judged, turns=turns)).status is not Status.FAIL


@few
@given(st.lists(st.tuples(st.text(max_size=6), values, values, st.booleans()), max_size=6), st.text(max_size=30))
def test_nothing_in_a_conversation_makes_rules_or_checks_raise(steps, output):
    builder = ConversationBuilder(system="x" * 100, tools=TOOLS).turn(output)
    for name, arguments, result, error in steps:
        builder.call(name, arguments, result=result, error=error)
    unit = conversation_unit(builder.answer(output).build())

    assert judge([{**rule, **_any_tool(rule)} for rule in RULES], unit).outcome in set(Outcome)


@few
@given(values)
def test_no_configuration_raises_anything_but_a_configuration_error(rule):
    from evaluators.errors import EvaluatorConfigError

    for candidate in ([rule], rule, [{"never": rule}], [{"max_calls": rule}], [{"never": "a", "where": {"x": rule}}]):
        try:
            for declared in read_rules(candidate):
                declared.rule.check(timeline_of(conversation_unit(conversation([[("a", 1, "ok")]]))))
        except EvaluatorConfigError:
            continue


def _identities(steps):
    return [(tool, n) for tool, n, _ in steps]


def _any_tool(rule):
    return {key: "*" for key in ("before", "after", "never", "confirm", "provenance") if key in rule}
