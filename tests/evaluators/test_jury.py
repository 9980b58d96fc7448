"""Several answers where one is uncertain: by majority, with the disagreement told and the costs summed."""

from __future__ import annotations

import pytest

from evaluators.evaluator import Judgement
from evaluators.judge.config import JuryConfig
from evaluators.judge.prices import Price
from evaluators.jury import JuryEvaluator
from evaluators.pipeline.setup import make_setup
from evaluators.registry import EvaluatorRegistry
from evaluators.verdict import JudgeInfo, Outcome
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator
from tests.support.judge_question import GOOD
from tests.support.judge_reply import always, answer
from tests.support.judge_server import JudgeServer
from tests.support.judges import judge_at

UNIT = turn_unit(refund_conversation(verified=True))
QUOTE = {"at": "t1.user", "quote": UNIT.turn.user_input}
BAD = GOOD | {"goal": {"reasoning": "No.", "evidence": [QUOTE], "verdict": "fail"}}


def judging(outcome, score=None, *, threshold=None, cost=0.5, **changes):
    def script(unit, asked_before):
        judge = JudgeInfo(name="m", calls=1, input_tokens=10, output_tokens=1, cost_usd=cost, duration_s=2.0)
        return Judgement(outcome, score=score, reason=f"{outcome}.", judge=judge, **changes)

    evaluator = ScriptedEvaluator(script, judge_name="m")
    if threshold is not None:
        evaluator.threshold = threshold
    return evaluator


PASS, FAIL, ABSTAIN, ERROR = Outcome.PASS, Outcome.FAIL, Outcome.ABSTAIN, Outcome.ERROR


async def verdict_of(first, *others, **config):
    return await JuryEvaluator(first, others, config=JuryConfig(samples=len(others), **config)).evaluate(UNIT)


@pytest.mark.parametrize(
    ("outcome", "score", "threshold", "is_asked"),
    [
        (PASS, 1.0, 1.0, False),
        (FAIL, 0.0, 1.0, True),
        (ABSTAIN, None, 1.0, True),
        (PASS, 1.0, None, False),
        (FAIL, 0.0, None, True),
        (PASS, 0.95, 0.8, True),
        (PASS, 1.0, 0.75, False),
        (FAIL, 0.65, 0.8, True),
        (FAIL, 0.0, 0.8, False),
        (Outcome.NOT_ASSESSABLE, None, 0.8, False),
        (ERROR, None, 0.8, False),
    ],
)
async def test_only_an_uncertain_answer_calls_for_others(outcome, score, threshold, is_asked):
    juror = judging(PASS, 1.0)

    await verdict_of(judging(outcome, score, threshold=threshold), juror)

    assert len(juror.asked) == is_asked


async def test_a_jury_may_always_be_asked():
    juror = judging(PASS, 1.0)

    judgement = await verdict_of(judging(PASS, 1.0, threshold=1.0), juror, when="always")

    assert (len(juror.asked), judgement.details["agreement"]) == (1, 1.0)


async def test_the_majority_counts_and_the_disagreement_is_told():
    judgement = await verdict_of(judging(FAIL, 0.0), judging(PASS, 1.0), judging(PASS, 0.9))

    assert (judgement.outcome, judgement.reason) == (PASS, "pass.")
    assert judgement.score == pytest.approx(0.95)
    assert judgement.details["agreement"] == pytest.approx(2 / 3, abs=1e-4)
    assert judgement.details["jury"]["votes"] == {"fail": 1, "pass": 2}
    assert [member["outcome"] for member in judgement.details["jury"]["members"]] == ["fail", "pass", "pass"]
    assert judgement.judge.name == "jury(m*3)"


async def test_even_votes_are_no_verdict():
    judgement = await verdict_of(judging(FAIL, 0.0), judging(PASS, 1.0))

    assert (judgement.outcome, judgement.score) == (ABSTAIN, None)
    assert judgement.reason.startswith("The jury is divided (1 fail, 1 pass).")


async def test_who_gives_no_verdict_has_no_vote():
    judgement = await verdict_of(judging(FAIL, 0.0), judging(ERROR, retryable=True), judging(ERROR))

    assert (judgement.outcome, judgement.details["agreement"]) == (FAIL, 1.0)
    assert [member["outcome"] for member in judgement.details["jury"]["members"]] == ["fail", "error", "error"]


async def test_costs_are_summed_and_an_unknown_one_makes_the_sum_unknown():
    known = await verdict_of(judging(FAIL, 0.0), judging(PASS, 1.0), judging(PASS, 1.0))
    unknown = await verdict_of(judging(FAIL, 0.0), judging(PASS, 1.0, cost=None))

    assert (known.judge.calls, known.judge.input_tokens, known.judge.cost_usd, known.judge.duration_s) == (
        3,
        30,
        1.5,
        4,
    )
    assert unknown.judge.cost_usd is None


def jury_setup(judge):
    return make_setup("task_adherence", {}, registry=EvaluatorRegistry(), judge=judge)


async def test_samples_and_models_are_asked_over_http_and_a_false_alarm_is_outvoted():
    def script(call):
        return answer(BAD if call.body["model"] == "scripted-judge" and call.body["temperature"] == 0 else GOOD)

    jury = JuryConfig(samples=2, models=("other-judge",))
    prices = {"scripted-judge": Price(1, 1), "other-judge": Price(2, 2)}
    with JudgeServer(script) as server:
        async with judge_at(server, jury=jury, prices=prices) as judge:
            setup = jury_setup(judge)
            judgement = await setup.evaluator.evaluate(UNIT)

    asked = sorted((call.body["model"], call.body["temperature"]) for call in server.calls)
    assert asked == [("other-judge", 0.0), ("scripted-judge", 0.0), ("scripted-judge", 1.0), ("scripted-judge", 1.0)]
    assert (judgement.outcome, judgement.details["jury"]["votes"]) == (PASS, {"fail": 1, "pass": 3})
    assert setup.evaluator.judge_name == "jury(scripted-judge*3, other-judge)"
    assert judgement.judge.calls == 4
    assert judgement.judge.cost_usd > 0


async def test_a_pass_costs_one_call():
    with JudgeServer(always(answer(GOOD))) as server:
        async with judge_at(server, jury=JuryConfig(samples=4)) as judge:
            judgement = await jury_setup(judge).evaluator.evaluate(UNIT)

    assert (len(server.calls), judgement.outcome, judgement.judge.name) == (1, PASS, "jury(scripted-judge*5)")


async def test_without_a_jury_nothing_is_around_the_evaluator():
    with JudgeServer(always(answer(GOOD))) as server:
        async with judge_at(server) as judge:
            evaluator = jury_setup(judge).evaluator

    assert not isinstance(evaluator, JuryEvaluator)


async def test_rules_have_no_jury():
    with JudgeServer(always(answer(GOOD))) as server:
        async with judge_at(server, jury=JuryConfig(samples=2)) as judge:
            rules = make_setup("rules", {"rules": []}, registry=EvaluatorRegistry(), judge=judge)

    assert rules.immediate
