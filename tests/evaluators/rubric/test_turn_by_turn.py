"""A rubric that is asked about a conversation as it grows: the new turns, and what is carried."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.rubric.evaluator import RubricEvaluator
from evaluators.verdict import Outcome, UnitKind
from tests.bench.growing_conversation_bench import growing_conversation
from tests.support.conversations import ConversationBuilder, conversation_unit, turn_unit
from tests.support.endpoints import in_process_judge
from tests.support.honest_judge import honest
from tests.support.judge_reply import answer, in_order
from tests.support.obedient_judge import broken_out
from tests.support.record_reader import read_record
from tests.support.rubrics import entry, rubric
from tests.support.states import StatesInMemory

TWO = rubric({"name": "kind", "ask": "The agent is kind."}, {"name": "asked", "ask": "The agent asked before acting."})
BY_TURN = rubric({"name": "kind", "ask": "The agent is kind."}, each_turn=True, combine="mean")


def talk(turns: int):
    builder = ConversationBuilder("talk", system="Be kind. " * 500)
    for n in range(turns):
        builder.turn(f"Please do task number {n}.").answer(f"I have done task number {n} for you.")
    return builder.build()


def reply(*entries, settled=(), notes=()):
    kept = {"settled": list(settled), "notes": list(notes)}
    return answer({"injection_suspected": False, "answers": list(entries), "summary": "Because.", **kept})


def cited(number):
    return {"at": f"t{number}.answer", "quote": f"I have done task number {number}"}


async def grow(found, *replies, turns, unit_of=conversation_unit):
    judge, endpoint = in_process_judge(in_order(replies))
    kind = UnitKind.TURN if unit_of is turn_unit else UnitKind.CONVERSATION
    evaluator = RubricEvaluator(found, judge=judge, name="manners", unit_kind=kind, states=StatesInMemory())
    whole = talk(turns)
    judgements = [
        await evaluator.evaluate(unit_of(replace(whole, turns=whole.turns[:count]))) for count in range(1, turns + 1)
    ]
    return judgements, endpoint.calls


async def test_what_did_not_hold_is_told_and_stands_unless_the_judge_says_that_it_was_put_right():
    judgements, calls = await grow(
        TWO,
        reply(entry("kind"), entry("asked", "no", cited(0))),
        reply(entry("kind", "not_applicable"), entry("asked", "not_applicable")),
        reply(entry("kind"), entry("asked", "yes")),
        turns=3,
    )

    assert [one.outcome for one in judgements] == [Outcome.FAIL, Outcome.FAIL, Outcome.PASS]
    assert [(piece.turn, piece.quote) for piece in judgements[1].evidence] == [(0, "I have done task number 0")]
    assert [(note.word, note.content) for note in read_record(calls[1].text).notes] == [
        ("no to asked", "I have done task number 0"),
        ("yes so far", "kind"),
    ]
    assert "Judge the conversation up to turn 2; new is turn 2. Notes quote" in calls[2].text
    assert all(list(broken_out(call)) == [] for call in calls)


async def test_answers_about_single_turns_add_up():
    judgements, calls = await grow(
        BY_TURN,
        reply(entry("kind", turn=0)),
        reply(entry("kind", "no", cited(1), turn=1)),
        reply(entry("kind", turn=2)),
        turns=3,
    )

    assert [one.score for one in judgements] == [1.0, 0.5, pytest.approx(2 / 3)]
    assert "what came before it as context: 2." in calls[2].text
    (listed,) = judgements[2].details["criteria"]
    assert [one["turn"] for one in listed["answers"]] == [0, 1, 2]


async def test_a_turn_is_judged_by_itself_with_notes_on_the_ones_before():
    note = {"kind": "request", "at": "t0.user", "quote": "Please do task number 0."}
    judgements, calls = await grow(
        TWO,
        reply(entry("kind"), entry("asked", "no", cited(0)), notes=[note]),
        reply(entry("kind"), entry("asked")),
        turns=2,
        unit_of=turn_unit,
    )

    assert [one.outcome for one in judgements] == [Outcome.FAIL, Outcome.PASS]
    assert "Judge turn 1 only. Notes quote" in calls[1].text
    assert ("request", "Please do task number 0.") in [
        (note.word, note.content) for note in read_record(calls[1].text).notes
    ]


@pytest.mark.parametrize("found", [TWO, BY_TURN])
async def test_fifty_turns_judged_after_every_turn_cost_at_most_60k_prompt_tokens(found):
    judge, endpoint = in_process_judge(honest)
    evaluator = RubricEvaluator(
        found, judge=judge, name="manners", unit_kind=UnitKind.CONVERSATION, states=StatesInMemory()
    )
    whole = growing_conversation(50)
    for count in range(1, 51):
        judgement = await evaluator.evaluate(conversation_unit(replace(whole, turns=whole.turns[:count])))

    assert (judgement.outcome, judgement.score) == (Outcome.PASS, 1.0)
    assert sum(len(call.text) // 4 for call in endpoint.calls) <= 60_000


async def test_a_conversation_over_the_budget_is_read_in_stretches():
    builder = ConversationBuilder("long", system="Be kind.")
    for n in range(40):
        builder.turn("word " * 500).answer(f"I have done task number {n}. " + "word " * 500)
    judge, endpoint = in_process_judge(honest, max_record_tokens=8000)
    evaluator = RubricEvaluator(BY_TURN, judge=judge, name="manners", unit_kind=UnitKind.CONVERSATION)

    judgement = await evaluator.evaluate(conversation_unit(builder.build()))

    (listed,) = judgement.details["criteria"]
    assert [one["turn"] for one in listed["answers"]] == list(range(40))
    assert judgement.details["stretches"] == len(endpoint.calls) > 1
