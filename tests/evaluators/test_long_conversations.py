"""What is too long for one look: cut visibly or read in stretches, within the budget, and never failed for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model import Conversation
from evaluators.circumstances import circumstances
from evaluators.conversation_completeness.evaluator import ConversationCompleteness
from evaluators.role_adherence.evaluator import RoleAdherence
from evaluators.segments import MAX_SEGMENTS, segment_ends
from evaluators.task_adherence.evaluator import TaskAdherence
from evaluators.transcript.tokens import estimate_tokens
from evaluators.verdict import Outcome
from tests.support.conversations import ConversationBuilder, conversation_unit, turn_unit
from tests.support.endpoints import in_process_judge
from tests.support.honest_judge import honest
from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import answer
from tests.support.record_reader import read_record
from tests.support.states import StatesInMemory

KINDS = (TaskAdherence, RoleAdherence, ConversationCompleteness)
BUDGET = 6000
NOTES_TOKENS = 1200


def errands(turns: int, *, skips_check_in: int | None = None, words: int = 100) -> Conversation:
    """Each turn looks something up, checks and acts; in one of them the check that the rules demand may be missing."""
    builder = ConversationBuilder("errands", system="Before calling act you must call check. Be brief.")
    for n in range(turns):
        builder.turn(f"Errand {n}, please. " + "It matters to me. " * words)
        builder.call("look_up", {"n": n}, result="row " * 600)
        if n != skips_check_in:
            builder.call("check", {"n": n}, result={"ok": True})
        builder.call("act", {"n": n}, result={"ok": True})
        builder.answer(f"Errand {n} is done. " + "All went well. " * words)
    return builder.build()


def record_tokens(call: JudgeCall) -> int:
    return estimate_tokens(call.messages[1]["content"])


@pytest.mark.parametrize("kind", KINDS)
async def test_a_conversation_over_the_budget_is_read_in_stretches(kind):
    judge, endpoint = in_process_judge(honest, max_record_tokens=BUDGET)

    evaluator, unit = kind(judge=judge), conversation_unit(errands(30))

    judgement = await evaluator.evaluate(unit)

    assert judgement.outcome is Outcome.PASS
    assert 2 <= len(endpoint.calls) <= MAX_SEGMENTS
    assert all(record_tokens(call) <= BUDGET for call in endpoint.calls)
    assert judgement.judge.calls == len(endpoint.calls)
    assert judgement.judge.input_tokens >= sum(len(call.text) // 5 for call in endpoint.calls)
    assert judgement.details["stretches"] == len(endpoint.calls)
    assert circumstances(judgement, unit, evaluator)["flags"] == ["long_input"]
    assert judgement.details["coverage"] > 0.5


async def test_every_turn_is_shown_in_one_of_the_stretches():
    judge, _ = in_process_judge(honest, max_record_tokens=BUDGET)

    judgement = await RoleAdherence(judge=judge).evaluate(conversation_unit(errands(30)))

    assert [told["turn"] for told in judgement.details["turns"]] == list(range(30))


async def test_a_fault_of_the_first_stretch_fails_the_whole():
    judge, endpoint = in_process_judge(honest, max_record_tokens=BUDGET)
    unit = conversation_unit(errands(30, skips_check_in=0))

    judgement = await TaskAdherence(judge=judge).evaluate(unit)

    assert judgement.outcome is Outcome.FAIL
    assert [(item.turn, item.quote) for item in judgement.evidence] == [(0, 'act {"n": 0}')]
    assert read_record(endpoint.calls[0].text).turns[0] == 0
    assert 0 not in [place.turn for place in read_record(endpoint.calls[-1].text).places if place.at != "note"]


async def test_later_stretches_know_what_earlier_ones_found_out():
    judge, endpoint = in_process_judge(honest, max_record_tokens=BUDGET)

    await TaskAdherence(judge=judge).evaluate(conversation_unit(errands(30)))

    for call in endpoint.calls[1:]:
        assert any(note.word == "outcome" and note.content.startswith("check") for note in read_record(call.text).notes)


async def test_intentions_of_all_stretches_count():
    judge, _ = in_process_judge(honest, max_record_tokens=BUDGET)

    judgement = await ConversationCompleteness(judge=judge).evaluate(conversation_unit(errands(30)))

    assert [told["turn"] for told in judgement.details["intentions"]] == list(range(30))


async def test_a_judge_that_fails_on_the_way_goes_on_where_it_was():
    def failing_once(call: JudgeCall):
        return answer("not now") if call.number in (2, 3) else honest(call)

    judge, endpoint = in_process_judge(failing_once, max_record_tokens=BUDGET)
    evaluator = TaskAdherence(judge=judge, states=StatesInMemory())
    unit = conversation_unit(errands(30))

    first = await evaluator.evaluate(unit)
    calls_before = len(endpoint.calls)
    second = await evaluator.evaluate(unit)

    assert (first.outcome, first.error_type, first.judge.calls) == (Outcome.ERROR, "malformed", 4)
    assert second.outcome is Outcome.PASS
    assert read_record(endpoint.calls[calls_before].text).turns[-1] == read_record(endpoint.calls[2].text).turns[-1]


async def test_stretches_whose_notes_do_not_check_out_give_way_to_one_shortened_look():
    def inventing(call: JudgeCall):
        reply = honest(call)
        return answer(reply.content.replace('"quote": "check', '"quote": "invented'))

    judge, endpoint = in_process_judge(inventing, max_record_tokens=BUDGET)

    judgement = await TaskAdherence(judge=judge).evaluate(conversation_unit(errands(30)))

    assert judgement.outcome is Outcome.PASS
    assert len(endpoint.calls) == 2
    assert record_tokens(endpoint.calls[1]) <= BUDGET
    assert judgement.details["coverage"] < 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("unit_of", [turn_unit, conversation_unit])
async def test_a_turn_of_200k_characters_costs_at_most_the_budget_and_gives_a_verdict(kind, unit_of):
    conversation = (
        ConversationBuilder("giant", system="Be brief.")
        .turn("Read this for me: " + "lorem ipsum " * 17_000)
        .answer("It is filler text. Anything else that I can read for you?")
        .build()
    )
    judge, endpoint = in_process_judge(honest)

    evaluator, unit = kind(judge=judge), unit_of(conversation)

    judgement = await evaluator.evaluate(unit)

    assert judgement.outcome is Outcome.PASS
    assert len(endpoint.calls) == 1
    assert record_tokens(endpoint.calls[0]) <= 48_000
    assert judgement.details["coverage"] < 1
    assert circumstances(judgement, unit, evaluator)["flags"] == ["long_input"]


async def test_a_single_turn_is_never_read_in_stretches():
    judge, endpoint = in_process_judge(honest, max_record_tokens=BUDGET)

    judgement = await TaskAdherence(judge=judge).evaluate(turn_unit(errands(30)))

    assert (judgement.outcome, len(endpoint.calls)) == (Outcome.PASS, 1)


async def test_a_long_new_part_is_read_in_stretches_too():
    judge, endpoint = in_process_judge(honest, max_record_tokens=BUDGET)
    evaluator = TaskAdherence(judge=judge, states=StatesInMemory())
    whole = errands(24)
    await evaluator.evaluate(conversation_unit(replace(whole, turns=whole.turns[:3])))

    judgement = await evaluator.evaluate(conversation_unit(whole))

    assert judgement.outcome is Outcome.PASS
    assert len(endpoint.calls) > 2
    assert read_record(endpoint.calls[1].text).find("t0.user") is None
    assert all(record_tokens(call) <= BUDGET for call in endpoint.calls)


async def test_notes_add_little_to_a_stretch():
    judge, endpoint = in_process_judge(honest, max_record_tokens=BUDGET)

    await TaskAdherence(judge=judge).evaluate(conversation_unit(errands(40)))

    assert all(len(call.text) / 4 <= BUDGET + NOTES_TOKENS + 1000 for call in endpoint.calls)


@pytest.mark.parametrize("turns", [1, 2, 9, 100])
@pytest.mark.parametrize("max_tokens", [1000, BUDGET, 100_000])
def test_stretches_are_few_whole_and_in_order(turns, max_tokens):
    ends = segment_ends(errands(turns, words=10), first=0, max_tokens=max_tokens)

    assert ends == sorted(set(ends))
    assert ends[-1] == turns
    assert len(ends) <= MAX_SEGMENTS
