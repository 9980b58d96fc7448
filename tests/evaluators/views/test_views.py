"""One verdict in the fields of other tools: exact keys, labels that follow the threshold, small whatever was judged."""

from __future__ import annotations

import json

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.errors import EvaluatorConfigError
from evaluators.formats import conversation_from
from evaluators.library import make_evaluator
from evaluators.verdict import DecisionKind, JudgeInfo, Outcome
from evaluators.views import VIEW_NAMES, view_of
from evaluators.views.status import Status, status_of, status_of_decision
from tests.support.conversation_strategies import texts
from tests.support.honest_judge import honest
from tests.support.judges import scripted_judge
from tests.support.verdicts import verdict

NOTHING = {"outcome": Outcome.NOT_ASSESSABLE, "score": None, "label": None, "error_type": "no_content"}
FAILED = {"outcome": Outcome.ERROR, "score": None, "label": None, "error_type": "timeout"}
SMALL = 2000
"""Bytes of JSON."""


def test_the_shortest_view_has_score_and_reason_and_nothing_else():
    assert view_of(verdict(score=1.0, outcome=Outcome.PASS, reason="好。"), "huawei") == {
        "score": 1.0,
        "reason": "好。",
    }


def test_the_fields_of_a_metric():
    shown = view_of(verdict(details={"threshold": 0.5}), "deepeval")

    assert {key: shown[key] for key in ("score", "success", "threshold", "error")} == {
        "score": 0.25,
        "success": False,
        "threshold": 0.5,
        "error": None,
    }
    assert (shown["input_tokens"], shown["output_tokens"], shown["evaluation_cost"]) == (1200, 90, 0.0015)
    assert {"verdicts", "intentions", "reason"} <= set(shown)


async def test_a_metrics_verdicts_and_intentions_are_those_of_the_judge():
    given_ = {
        "turns": [
            {"input": "Book a table.", "actual_output": "Done."},
            {"input": "And a taxi.", "actual_output": "Sorry, I cannot."},
        ]
    }
    async with scripted_judge(honest) as (judge, _):
        found = await make_evaluator("conversation_completeness", judge=judge).evaluate(given_)

    shown = view_of(found, "deepeval")

    assert len(shown["intentions"]) == 2
    assert [item["verdict"] for item in shown["verdicts"]] == ["yes", "no"]


@pytest.mark.parametrize(
    ("changes", "result", "status", "passed", "flagged"),
    [
        ({"outcome": Outcome.PASS, "score": 1.0}, "pass", "completed", True, False),
        ({}, "fail", "completed", False, True),
        (NOTHING, "not_applicable", "skipped", None, None),
        (FAILED, None, "error", None, None),
    ],
    ids=["pass", "fail", "nothing to judge", "error"],
)
def test_the_fields_of_an_azure_evaluator(changes, result, status, passed, flagged):
    shown = view_of(verdict(**{"details": {"threshold": 1.0}, **changes}), "azure")

    key = "task_adherence"
    assert (shown[f"{key}_result"], shown[f"{key}_status"], shown[f"{key}_passed"]) == (result, status, passed)
    assert (shown["flagged"], shown[f"{key}_threshold"]) == (flagged, 1.0)
    assert shown[key] == shown[f"{key}_score"]
    assert shown[f"{key}_properties"] == {
        "prompt_tokens": 1200,
        "completion_tokens": 90,
        "total_tokens": 1290,
        "finish_reason": None,
        "model": "gpt-5-mini",
    }


@pytest.mark.parametrize(
    ("changes", "status", "confidence"),
    [
        ({"outcome": Outcome.PASS, "score": 1.0, "details": {"coverage": 1.0}}, "SUCCESS", 1.0),
        ({"details": {"coverage": 0.5, "flags": ["long_input"]}}, "SUCCESS", 0.5),
        (NOTHING, "SKIPPED", 0.0),
        (FAILED, "FAILED", 0.0),
    ],
    ids=["pass", "shown in part", "nothing to judge", "error"],
)
def test_the_fields_of_a_galtea_evaluation(changes, status, confidence):
    shown = view_of(verdict(**changes), "galtea")

    assert (shown["status"], shown["confidence"]) == (status, confidence)
    assert shown["long_input"] is ("flags" in changes.get("details", {}))


@pytest.mark.parametrize(
    "judge",
    [JudgeInfo(name="builtin"), JudgeInfo(name="m", calls=1, input_tokens=10, output_tokens=2, tokens_estimated=True)],
    ids=["nobody was asked", "nobody counted"],
)
def test_tokens_that_nobody_counted_are_null_and_not_zero(judge):
    shown = view_of(verdict(judge=judge), "galtea")

    assert [shown[f"judge_{kind}_tokens"] for kind in ("input", "output", "reasoning")] == [None, None, None]


def test_an_earlier_score_is_outdated_and_still_there():
    found = verdict()

    assert status_of(found) is Status.SUCCESS
    assert status_of(found, superseded=True) is Status.OUTDATED
    assert found.score == 0.25


@pytest.mark.parametrize(
    ("kind", "withdrawn", "status"),
    [
        (None, False, Status.PENDING),
        (DecisionKind.JUDGE_DOWN, False, Status.PENDING),
        (DecisionKind.DEFERRED_BUDGET, False, Status.PENDING),
        (DecisionKind.JUDGED, False, Status.SUCCESS),
        (DecisionKind.FAILED, False, Status.FAILED),
        (DecisionKind.SAMPLED_OUT, False, Status.SKIPPED),
        (DecisionKind.SUPERSEDED, False, Status.OUTDATED),
        (DecisionKind.SUPERSEDED, True, Status.CANCELLED),
    ],
)
def test_units_without_a_verdict_have_a_status_as_well(kind, withdrawn, status):
    assert status_of_decision(kind, withdrawn=withdrawn) is status


@pytest.mark.parametrize("name", VIEW_NAMES)
@settings(max_examples=30, deadline=None)
@given(reason=st.one_of(texts, texts.map(lambda text: text * 200)), many=st.integers(0, 60), word=texts)
def test_a_view_is_small_whatever_was_judged(name, reason, many, word):
    details = {
        "threshold": 0.5,
        "intentions": [
            {"intention": word * 30, "turn": n, "satisfied": "no", "reasoning": word * 30} for n in range(many)
        ],
        "turns": [{"turn": n, "adherent": False, "reasoning": word * 30} for n in range(many)],
    }

    shown = view_of(verdict(reason=reason, details=details, conversation_id="c" * 500), name)

    assert len(orjson.dumps(shown)) < SMALL


@pytest.mark.parametrize("name", VIEW_NAMES)
async def test_the_conversation_is_in_no_result_unless_it_is_asked_for(name):
    said = [{"input": f"secret question {n}", "actual_output": f"secret answer {n}"} for n in range(50)]
    async with scripted_judge(honest) as (judge, _):
        found = await make_evaluator("role_adherence", judge=judge, role="A clerk.").evaluate(turns=said)

    plain = json.dumps(view_of(found, name))
    echoed = json.dumps(view_of(found, name, echo=conversation_from({"turns": said})))

    assert "secret" not in plain
    assert len(plain) < SMALL
    assert all(f"secret answer {n}" in echoed for n in range(50))


def test_a_view_that_is_none_is_named():
    with pytest.raises(EvaluatorConfigError, match="did you mean 'azure'"):
        view_of(verdict(), "azur")
