from __future__ import annotations

import pytest

from evaluators.errors import EvaluatorConfigError
from evaluators.registry import EvaluatorRequest
from evaluators.rules.declared import read_rules
from evaluators.rules.factory import make_rules
from evaluators.verdict import UnitKind


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"never": "x"}, "rules is {'never': 'x'} and must be a list"),
        (["never"], "rules[0] is 'never' and must be a mapping"),
        ([{"befor": "x", "require": "y"}], "rules[0].befor is not a known key; known are"),
        ([{"nevr": "x"}], "rules[0].nevr: there is no such rule; did you mean 'never'?"),
        ([{"x": 1}], "rules[0] has the keys x; a rule has one of before, after"),
        ([{}], "rules[0] has the keys (none)"),
        ([{"never": "x", "max_calls": 3}], "rules[0] holds never and max_calls"),
        ([{"before": "x"}], "rules[0].require is not given and must be a tool's name"),
        ([{"never": ""}], "rules[0].never is '' and must be a tool's name"),
        ([{"never": 7}], "rules[0].never is 7 and must be"),
        ([{"never": "x", "wher": {}}], "rules[0].wher is not a known key; did you mean 'where'?"),
        ([{"never": "x"}, {"max_calls": "20"}], "rules[1].max_calls is '20' and must be a whole number of at least 0"),
        ([{"max_calls": True}], "rules[0].max_calls is True"),
        ([{"max_repeats": 0}], "rules[0].max_repeats is 0 and must be a whole number of at least 1"),
        ([{"max_calls": 2, "within": "session"}], "rules[0].within is 'session' and must be one of turn, conversation"),
        (
            [{"never": "x", "where": {"a": {"gtt": 3}}}],
            "rules[0].where.a.gtt: there is no operator 'gtt'; did you",
        ),
        ([{"never": "x", "where": {"a": {"matches": "("}}}], "rules[0].where.a.matches is '(' and must be a regular"),
        (
            [{"never": "x", "where": {"a": {"matches": "(?!b)"}}}],
            "rules[0].where.a.matches is '(?!b)' and must be a regular expression (look-around",
        ),
        (
            [{"never": "x", "where": {"a": {"matches": "(?:\\w{99}){999}"}}}],
            "must be a regular expression (it is too large)",
        ),
        ([{"never": "x", "where": {"a": {"gt": [1]}}}], "rules[0].where.a.gt is [1] and must be a number"),
        ([{"never": "x", "where": {"a": {"lte": None}}}], "rules[0].where.a.lte is not given and must be a number"),
        ([{"never": "x", "where": {"a": {"gt": float("nan")}}}], "rules[0].where.a.gt is nan and must be a number"),
        ([{"never": "x", "where": {"a": {"matches": 3}}}], "rules[0].where.a.matches is 3 and must be a regular"),
        (
            [{"never": "x", "where": {"a": {"matches": {"result_of": "y", "path": "z"}}}}],
            "rules[0].where.a.matches is {'result_of': 'y', 'path': 'z'} and must be a regular",
        ),
        ([{"never": "x", "where": {"a": {"exists": {"result_of": "y", "path": "z"}}}}], "must be true or false"),
        ([{"never": "x", "where": {"a": {"in": "EUR"}}}], "rules[0].where.a.in is 'EUR' and must be a list"),
        ([{"never": "x", "where": {"a": {"exists": 1}}}], "rules[0].where.a.exists is 1 and must be true or false"),
        ([{"never": "x", "where": ["a"]}], "rules[0].where is ['a'] and must be a mapping"),
        ([{"never": "x", "where": {"a": {"gt": {"result_of": "y"}}}}], "rules[0].where.a.gt.path is not given"),
        ([{"provenance": "x", "from": ["users"]}], "rules[0].from is 'users' and must be one of user"),
        ([{"never": "x", "name": "n"}, {"never": "y", "name": "n"}], "Two rules are named 'n'"),
        ([{"never": "x", "message": 3}], "rules[0].message is 3 and must be a text"),
    ],
)
def test_a_problem_is_named_with_its_place_and_value(rules, message):
    with pytest.raises(EvaluatorConfigError) as caught:
        read_rules(rules)

    assert message in str(caught.value)


def test_all_problems_are_reported_at_once():
    with pytest.raises(EvaluatorConfigError) as caught:
        read_rules([{"never": 7}, {"max_calls": -1}, {"confirm": "x", "wher": {}}])

    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"before": "issue_refund", "require": "verify_identity"}, "issue_refund needs verify_identity before it"),
        (
            {"before": "a", "require": "b", "require_result": {"ok": True}, "same": "id"},
            "a needs b with a result where ok is true with the same id before it",
        ),
        ({"after": "a", "require": ["b", "c"]}, "a needs b or c after it in the same turn"),
        ({"never": "a", "where": {"x": {"gt": 3}}}, "a is never called where x is over 3"),
        ({"require": "a"}, "a is called in the conversation"),
        ({"max_calls": 20}, "any tool is called at most 20 times in one conversation"),
        ({"max_calls": 1, "tool": "a", "within": "turn"}, "a is called at most once in one turn"),
        ({"max_repeats": 2}, "the same call of any tool with the same arguments at most 2 times in one turn"),
        ({"confirm": "a"}, "a needs the user's word between the agent's proposal and the call"),
        (
            {"provenance": "a", "arguments": "id"},
            "id of a must come from the user or the system prompt or a tool's result",
        ),
        (
            {"never": "a", "where": {"x": {"gt": {"result_of": "b", "path": "total"}}}},
            "a is never called where x is over total of b",
        ),
    ],
    ids=str,
)
def test_a_rule_can_be_read_in_words(rule, words):
    (declared,) = read_rules([rule])

    assert str(declared.rule) == words


def test_rules_are_named_by_their_place_or_their_own_name():
    first, second = read_rules([{"never": "a"}, {"never": "b", "name": "no-b", "message": "Hands off b."}])

    assert (first.name, second.name, second.message) == ("rules[0]", "no-b", "Hands off b.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": []}, "refunds.rule is not a known key; did you mean 'rules'?"),
        ({"checks": "all"}, "refunds.checks is 'all' and must be true, false or a list of checks."),
        ({"checks": ["no_anwser"]}, "refunds.checks: there is no check 'no_anwser'; did you mean 'no_answer'?"),
        ({"rules": [{"never": 7}]}, "refunds.rules[0].never is 7"),
    ],
)
def test_options_are_strict(options, message):
    with pytest.raises(EvaluatorConfigError) as caught:
        make_rules(EvaluatorRequest(name="refunds", options=options))

    assert message in str(caught.value)


def test_the_rubric_version_follows_the_rules():
    def version(*rules):
        return make_rules(EvaluatorRequest(name="rules", options={"rules": list(rules)})).rubric_version

    assert version({"never": "a"}) == version({"never": "a"})
    assert version({"never": "a"}) != version({"never": "b"})
    assert version({"never": "a"}) != version()


@pytest.mark.parametrize("rule", [{"require": "log_contact"}, {"min_calls": 1}], ids=["require", "min_calls"])
def test_a_rule_about_the_whole_conversation_is_refused_on_turns(rule):
    def make(unit_kind, **changes):
        return make_rules(EvaluatorRequest(name="rules", unit_kind=unit_kind, options={"rules": [{**rule, **changes}]}))

    with pytest.raises(EvaluatorConfigError, match="on: conversation"):
        make(None)

    assert make(UnitKind.CONVERSATION).unit_kind is UnitKind.CONVERSATION
    assert make(UnitKind.TURN, within="turn").unit_kind is UnitKind.TURN


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"where": {"a": {"in": ["b, c"]}}}, {"where": {"a": {"in": ["b", "c"]}}}),
        ({"where": {"a": {"gt": 9}}}, {"where": {"a": {"gt": "9"}}}),
        ({"where": {"a": None}}, {"where": {"a": "null"}}),
    ],
    ids=["list", "number", "null"],
)
def test_rules_that_read_alike_are_not_the_same(one, other):
    def evaluator(rule):
        return make_rules(EvaluatorRequest(name="rules", options={"rules": [{"never": "x", **rule}]}))

    assert evaluator(one).rubric_version != evaluator(other).rubric_version
    assert evaluator(one).rubric_version == evaluator(dict(reversed(one.items()))).rubric_version
