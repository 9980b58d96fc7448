from dataclasses import replace

import pytest

from evaluators.errors import EvaluatorConfigError
from evaluators.registry import EvaluatorRequest
from evaluators.task_adherence.evaluator import TaskAdherence
from evaluators.task_adherence.factory import make_task_adherence
from evaluators.task_adherence.policy import Policy
from evaluators.verdict import Evidence, Outcome, Unit, UnitKind
from tests.support.conversations import conversation_unit, refund_conversation, turn_unit
from tests.support.honest_judge import honest
from tests.support.judge_reply import always, answer, in_order
from tests.support.judges import scripted_judge

POLICIES = [("pass", "pass"), ("fail", "pass"), ("pass", "fail"), ("fail", "fail")]
REFUND = refund_conversation(verified=None)
CALL = {"at": "t1.0", "quote": 'issue_refund {"order_id": "B-2040"'}


def dimension(verdict="pass", *evidence):
    return {"reasoning": "Seen.", "evidence": list(evidence), "verdict": verdict}


def reply(*, goal=None, rule=None, procedure=None, summary="Because.", injection=False):
    fine = dimension()
    return answer(
        {
            "injection_suspected": injection,
            "goal": goal or fine,
            "rule": rule or fine,
            "procedure": procedure or fine,
            "summary": summary,
        }
    )


async def judged(*replies, unit: Unit):
    async with scripted_judge(in_order(replies)) as (judge, server):
        return await TaskAdherence(judge=judge).evaluate(unit), server


async def test_a_skipped_check_fails_with_the_offending_call_as_evidence():
    async with scripted_judge(honest) as (judge, _):
        judgement = await TaskAdherence(judge=judge).evaluate(turn_unit(REFUND))

    call = REFUND.turns[1].steps[0]
    assert (judgement.outcome, judgement.score, judgement.label) == (Outcome.FAIL, 0.0, "fail")
    assert judgement.evidence == (
        Evidence(1, 0, 'issue_refund {"order_id": "B-2040", "amount": 24.9}', span_id=call.span_id),
    )
    assert judgement.details["dimensions"]["procedure"]["verdict"] == "fail"
    assert judgement.judge.calls == 1


@pytest.mark.parametrize(("verified", "outcome"), [(True, Outcome.PASS), (False, Outcome.FAIL), (None, Outcome.FAIL)])
async def test_a_check_counts_only_with_the_outcome_it_needs(verified, outcome):
    async with scripted_judge(honest) as (judge, _):
        judgement = await TaskAdherence(judge=judge).evaluate(conversation_unit(refund_conversation(verified=verified)))

    assert judgement.outcome is outcome


@pytest.mark.parametrize("name", ["goal", "rule", "procedure"])
async def test_a_failure_in_any_dimension_fails_the_whole(name):
    judgement, _ = await judged(reply(**{name: dimension("fail", CALL)}), unit=turn_unit(REFUND))

    assert (judgement.outcome, judgement.score) == (Outcome.FAIL, 0.0)
    verdicts = {key: value["verdict"] for key, value in judgement.details["dimensions"].items()}
    assert verdicts == {"goal": "pass", "rule": "pass", "procedure": "pass"} | {name: "fail"}


async def test_dimensions_that_do_not_apply_do_not_count():
    nothing = dimension("not_applicable")

    judgement, _ = await judged(reply(rule=nothing, procedure=nothing), unit=turn_unit(REFUND))

    assert (judgement.outcome, judgement.score) == (Outcome.PASS, 1.0)


async def test_where_nothing_applies_there_is_no_score():
    nothing = dimension("not_applicable")

    judgement, _ = await judged(reply(goal=nothing, rule=nothing, procedure=nothing), unit=turn_unit(REFUND))

    assert (judgement.outcome, judgement.score, judgement.error_type) == (Outcome.NOT_ASSESSABLE, None, "nothing_asked")


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param([], id="none"),
        pytest.param([{"at": "t1.0", "quote": "delete_account"}], id="not there"),
        pytest.param([{"at": "t0.0", "quote": "get_order"}], id="of an earlier turn only"),
    ],
)
async def test_evidence_that_does_not_check_out_is_repaired_once_and_then_an_error(bad):
    failing = reply(procedure=dimension("fail", *bad))

    repaired, first = await judged(failing, reply(procedure=dimension("fail", CALL)), unit=turn_unit(REFUND))
    judgement, second = await judged(failing, failing, unit=turn_unit(REFUND))

    assert (repaired.outcome, repaired.details["repaired"]) == (Outcome.FAIL, True)
    assert (judgement.outcome, judgement.score, judgement.error_type) == (Outcome.ERROR, None, "evidence")
    assert len(first.calls) == len(second.calls) == 2


async def test_a_fail_rests_on_what_checks_out_of_its_evidence():
    cited = [{"at": "t1.0", "quote": "delete_account"}, CALL, {"at": "system", "quote": "verify_identity"}]

    judgement, server = await judged(reply(procedure=dimension("fail", *cited)), unit=turn_unit(REFUND))

    assert judgement.outcome is Outcome.FAIL
    assert [(item.turn, item.step) for item in judgement.evidence] == [(1, 0)]
    assert len(server.calls) == 1


async def test_the_repair_names_the_quote_that_is_not_there():
    failing = reply(procedure=dimension("fail", {"at": "t1.0", "quote": "delete_account"}))

    _, server = await judged(failing, failing, unit=turn_unit(REFUND))

    assert 'The quote "delete_account" does not stand at t1.0' in server.calls[1].messages[-1]["content"]


async def test_a_quote_at_the_wrong_step_of_the_right_turn_is_moved():
    wrong = {**CALL, "at": "t1.answer"}

    judgement, server = await judged(reply(procedure=dimension("fail", wrong)), unit=turn_unit(REFUND))

    assert judgement.evidence[0].step == 0
    assert len(server.calls) == 1


async def test_earlier_turns_may_be_cited_beside_the_judged_one():
    cited = [CALL, {"at": "t0.user", "quote": "torn cover"}]

    judgement, _ = await judged(reply(goal=dimension("fail", *cited)), unit=turn_unit(REFUND))

    assert [item.turn for item in judgement.evidence] == [1, 0]


async def test_a_turn_is_judged_with_the_turns_before_it_and_none_after():
    _, server = await judged(reply(), unit=turn_unit(REFUND, 0))

    assert "Judge turn 0 only." in server.calls[0].text
    assert "A refund please." not in server.calls[0].text


async def test_a_suspected_injection_is_reported_and_moves_no_score():
    judgement, _ = await judged(reply(injection=True), unit=turn_unit(REFUND))

    assert judgement.details["injection_suspected"] is True
    assert judgement.score == 1.0


async def test_reasons_are_shown_harmless_and_bounded():
    judgement, _ = await judged(reply(summary="\x1b[31m理由\u202e\n" + "x" * 5000), unit=turn_unit(REFUND))

    assert judgement.reason.startswith("\\u{1b}[31m理由\\u{202e} xxx")
    assert len(judgement.reason) <= 2000
    assert "\n" not in judgement.reason


async def test_an_empty_reason_still_says_what_failed():
    judgement, _ = await judged(reply(summary="", rule=dimension("fail", CALL)), unit=turn_unit(REFUND))

    assert judgement.reason == "rule: fail"


async def test_without_a_judge_it_says_how_to_connect_one():
    evaluator = TaskAdherence(judge=None)

    judgement = await evaluator.evaluate(turn_unit(REFUND))

    assert (evaluator.judge_name, evaluator.unit_kind) == ("none", UnitKind.TURN)
    assert (judgement.outcome, judgement.score) == (Outcome.NOT_ASSESSABLE, None)
    assert judgement.error_type == "no_judge_configured"
    assert judgement.reason.startswith("No judge is configured: set judge.model")


async def test_a_judge_in_trouble_is_an_error_and_says_whether_to_try_again():
    async with scripted_judge(always(reply()), base_url="http://127.0.0.1:1/v1", max_attempts=1) as (judge, _):
        judgement = await TaskAdherence(judge=judge).evaluate(turn_unit(REFUND))

    assert (judgement.outcome, judgement.score, judgement.retryable) == (Outcome.ERROR, None, True)
    assert (judgement.error_type, judgement.judge.calls) == ("connection", 1)


async def test_a_long_conversation_is_judged_in_part_and_says_so():
    long = refund_conversation(verified=None)
    giant = conversation_unit(replace(long, system_instructions="Long. " * 40_000))
    async with scripted_judge(honest, max_record_tokens=4000) as (judge, server):
        judgement = await TaskAdherence(judge=judge).evaluate(giant)

    assert judgement.outcome in (Outcome.PASS, Outcome.FAIL)
    assert judgement.details["coverage"] < 0.1
    assert server.calls[0].prompt_tokens < 5500


@pytest.mark.parametrize(
    ("options", "said", "unsaid"),
    [
        ({}, [], ["doubt fails", "fails goal"]),
        ({"doubt": "fail"}, ["Here, real doubt fails instead"], ["fails goal"]),
        ({"safety_refusal": "fail"}, ["a refusal for safety alone", "fails goal"], ["doubt fails"]),
    ],
    ids=["default", "doubt", "refusal"],
)
async def test_what_passes_in_doubt_or_for_safety_is_for_the_team_to_say(options, said, unsaid):
    async with scripted_judge(honest) as (judge, server):
        evaluator = make_task_adherence(EvaluatorRequest(name="task_adherence", options=options, judge=judge))
        await evaluator.evaluate(turn_unit(REFUND))

    question = server.calls[0].messages[-1]["content"]
    assert all(words in question for words in said)
    assert not any(words in question for words in unsaid)


def test_another_policy_is_another_rubric():
    versions = {TaskAdherence(judge=None, policy=Policy(*choices)).rubric_version for choices in POLICIES}

    assert len(versions) == len(POLICIES)


@pytest.mark.parametrize("name", ["doubt", "safety_refusal"])
def test_a_policy_is_pass_or_fail(name):
    with pytest.raises(EvaluatorConfigError, match=f"task_adherence.{name} is 'maybe' and must be one of pass, fail"):
        make_task_adherence(EvaluatorRequest(name="task_adherence", options={name: "maybe"}))
