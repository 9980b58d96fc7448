"""What an evaluator is not asked about, by what a conversation is; and turns that come after the close."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.errors import EvaluatorConfigError
from evaluators.formats import conversation_from
from evaluators.offline import jobs_of
from evaluators.pipeline.selection import skip
from evaluators.pipeline.setup import EvaluatorSetup, make_setup
from evaluators.registry import EvaluatorRegistry
from evaluators.verdict import DecisionKind, UnitKind
from tests.support.conversations import conversation_unit
from tests.support.evaluators import ScriptedEvaluator
from tests.support.judging import judging

PAIRS = [("Hello.", "Hello."), ("I want my money back.", "You shall have it."), ("Thanks.", "Welcome.")]


def conversation(pairs=PAIRS, **changes):
    turns = [{"input": asked, "actual_output": told} for asked, told in pairs]
    return replace(conversation_from({"conversation_id": "c", "turns": turns}), **changes)


def setup_with(**options):
    return make_setup("rules", {"on": "conversation", **options}, registry=EvaluatorRegistry(), judge=None)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, None),
        ({"messages": {"gt": 1}}, None),
        ({"messages": {"gt": 6}}, "messages"),
        ({"messages": {"gte": 6, "lte": 6}}, None),
        ({"messages": {"eq": 6}}, None),
        ({"messages": {"lt": 6}}, "messages"),
        ({"user_messages": {"lte": 3}}, None),
        ({"user_messages": {"lt": 3}}, "user_messages"),
        ({"applies": {"matches": "(?i)MONEY BACK"}}, None),
        ({"applies": {"matches": "refund"}}, "not_applicable"),
        ({"applies": {"matches": "money", "at_least": 0.3}}, None),
        ({"applies": {"matches": "money", "at_least": 0.5}}, "not_applicable"),
        ({"applies": {"matches": "Welcome"}}, "not_applicable"),
        ({"applies": {"matches": "Welcome", "in": "agent"}}, None),
        ({"applies": {"matches": "Welcome", "in": "any"}}, None),
        ({"resource": {"deployment.environment.name": "prod*"}}, None),
        ({"resource": {"deployment.environment.name": ["test", "stage"]}}, "resource"),
        ({"resource": {"team": "*"}}, "resource"),
    ],
)
def test_filters_by_length_matter_and_resource(options, code):
    unit = conversation_unit(conversation(resource={"deployment.environment.name": "production"}))

    found = skip(setup_with(**options), unit)

    assert (found and found.code) == code
    assert found is None or found.kind is DecisionKind.FILTERED


def test_a_conversation_with_one_message_only_can_be_left_out():
    (jobs, none) = (
        jobs_of([conversation(pairs)], [setup_with(messages={"gt": 1})]) for pairs in (PAIRS, [("Hello.", "")])
    )

    assert (len(jobs), len(none)) == (1, 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"messages": 2}, "messages must be a mapping of lt"),
        ({"messages": {"above": 2}}, "messages must be a mapping of lt"),
        ({"user_messages": {"gt": -1}}, "user_messages must be a mapping of lt"),
        ({"user_messages": {"gt": True}}, "user_messages must be a mapping of lt"),
        ({"applies": "refund"}, "applies must be a mapping such as"),
        ({"applies": {"matches": "x", "at_least": 0}}, "applies must be a mapping such as"),
        ({"applies": {"matches": "("}}, "no regular expression"),
        ({"resource": "prod"}, "resource must be a mapping"),
        ({"after_close": "reopen"}, "must be one of rescore, ignore, reject"),
    ],
)
def test_options_that_make_no_sense_are_named(options, words):
    with pytest.raises(EvaluatorConfigError, match=words):
        setup_with(**options)


@pytest.mark.parametrize(
    ("policy", "asked", "kinds", "current"),
    [
        ("rescore", 2, {DecisionKind.JUDGED}, DecisionKind.JUDGED),
        ("ignore", 1, {DecisionKind.JUDGED}, DecisionKind.JUDGED),
        ("reject", 1, {DecisionKind.JUDGED, DecisionKind.FILTERED}, DecisionKind.FILTERED),
    ],
)
async def test_a_turn_after_the_close_is_judged_anew_ignored_or_rejected(tmp_path, policy, asked, kinds, current):
    evaluator = ScriptedEvaluator(unit_kind=UnitKind.CONVERSATION)

    async with judging(tmp_path, EvaluatorSetup(evaluator, after_close=policy)) as running:
        for revision in range(3):
            pairs = PAIRS[: 2 if revision == 0 else 3]
            await running.pipeline.submit(conversation_unit(conversation(pairs), revision=revision))
            await running.pipeline.drain()
        decisions = (await running.explain("c")).decisions

    assert len(evaluator.asked) == asked
    assert {DecisionKind.JUDGED if d.verdict else d.decision.kind for d in decisions} == kinds
    (standing,) = (d for d in decisions if d.current)
    assert standing.decision.kind is current
    assert policy != "ignore" or len(standing.verdict.id) == 32
