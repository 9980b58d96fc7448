"""A person's evaluation in the place of a score: what it says, what it keeps, and where it goes."""

from __future__ import annotations

import pytest

from evaluators.errors import EvaluatorConfigError
from evaluators.override import override
from evaluators.pipeline.binding import decision_for
from evaluators.pipeline.setup import EvaluatorSetup
from evaluators.store.opening import open_beside
from evaluators.store.verdicts import record_verdict
from evaluators.verdict import DecisionKind, Outcome
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator
from tests.support.judging import judging
from tests.support.verdicts import REFUND_FAILED, verdict

NOW = 1_800_000_000_000_000_000


def human(found=REFUND_FAILED, score: float | None = 1.0, reason="It was verified by phone.", by="ada"):
    return override(found, score=score, reason=reason, by=by, now_ns=NOW)


def test_it_has_score_reason_who_and_when_and_keeps_what_it_replaced():
    found = human()

    assert (found.outcome, found.score, found.reason) == (Outcome.PASS, 1.0, "It was verified by phone.")
    assert (found.judge.name, found.judged_ns, found.supersedes) == ("human", NOW, REFUND_FAILED.id)
    assert found.id != REFUND_FAILED.id
    assert found.details["human"] == {
        "by": "ada",
        "at_ns": NOW,
        "replaced": {
            "outcome": "fail",
            "score": 0.25,
            "reason": REFUND_FAILED.reason,
            "judge": "gpt-5-mini",
        },
    }


def test_it_passes_by_the_threshold_that_decided():
    strict = verdict(details={"threshold": 0.9})

    assert [human(strict, score).outcome for score in (0.8, 0.9)] == [Outcome.FAIL, Outcome.PASS]
    assert human(score=None).outcome is Outcome.NOT_ASSESSABLE


def test_who_corrects_a_person_does_not_hide_what_the_judge_said():
    again = human(human(), 0.0, by="bob")

    assert again.details["human"]["by"] == "bob"
    assert again.details["human"]["replaced"]["judge"] == "gpt-5-mini"


@pytest.mark.parametrize("wrong", [{"score": 1.5}, {"score": -0.1}, {"by": " "}, {"reason": ""}])
def test_what_is_no_evaluation_is_refused(wrong):
    with pytest.raises(EvaluatorConfigError):
        human(**wrong)


async def test_it_goes_out_of_a_running_adhere_and_a_replay_does_not_undo_it(tmp_path):
    evaluator = ScriptedEvaluator()
    unit = turn_unit(refund_conversation(verified=True))

    async with judging(tmp_path, EvaluatorSetup(evaluator)) as running:
        await running.pipeline.submit(unit)
        await running.pipeline.drain()
        (judged,) = running.sink.verdicts
        beside = open_beside(tmp_path / "verdicts.sqlite")
        found = record_verdict(beside, human(judged, 0.0), decision_for(human(judged, 0.0)))
        beside.close()
        await running.clock.advance(60)
        await running.pipeline.submit(unit)
        await running.pipeline.drain()
        decisions = (await running.explain("refund")).decisions

    assert [one.id for one in running.sink.verdicts] == [judged.id, found.id]
    (standing,) = (record for record in decisions if record.current)
    assert (standing.verdict, standing.decision.kind) == (found, DecisionKind.JUDGED)
    assert len(evaluator.asked) == 1
