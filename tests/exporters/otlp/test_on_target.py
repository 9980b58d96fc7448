from __future__ import annotations

import pytest

from evaluators.verdict import Outcome
from exporters.otlp.on_target import target_attributes
from tests.support.verdicts import REFUND_FAILED, verdict


def test_each_score_stands_under_its_evaluators_name():
    rules = verdict("r1", evaluator="rules", outcome=Outcome.PASS, score=1.0, label=None, reason="")

    assert target_attributes([REFUND_FAILED, rules]) == {
        "gen_ai.evaluation.task_adherence.score.value": 0.25,
        "gen_ai.evaluation.task_adherence.score.label": "fail",
        "gen_ai.evaluation.task_adherence.explanation": REFUND_FAILED.reason,
        "gen_ai.evaluation.rules.score.value": 1.0,
        "gen_ai.evaluation.rules.score.label": "pass",
    }


def test_the_reason_may_be_kept_back():
    assert "gen_ai.evaluation.task_adherence.explanation" not in target_attributes([REFUND_FAILED], content=False)


@pytest.mark.parametrize("outcome", [Outcome.ABSTAIN, Outcome.ERROR, Outcome.NOT_ASSESSABLE])
def test_what_is_no_score_adds_nothing(outcome):
    assert target_attributes([verdict("x", outcome=outcome, score=0.5, label="fail")]) == {}
