"""Judging a conversation as it grows: the new turn, what is carried, and when the whole is read again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.model import Conversation
from evaluators.carrying import MAX_NOTES, MAX_PASSES
from evaluators.conversation_completeness.evaluator import ConversationCompleteness
from evaluators.role_adherence.evaluator import RoleAdherence
from evaluators.store.states import StoredStates
from evaluators.store.thread import StoreThread
from evaluators.task_adherence.evaluator import TaskAdherence
from evaluators.verdict import Outcome
from tests.bench.growing_conversation_bench import growing_conversation
from tests.support.clock import ManualClock
from tests.support.conversation_strategies import texts
from tests.support.conversations import ConversationBuilder, conversation_unit, turn_unit
from tests.support.endpoints import in_process_judge
from tests.support.honest_judge import honest
from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import answer, in_order
from tests.support.obedient_judge import broken_out
from tests.support.record_reader import read_record
from tests.support.states import StatesInMemory

KINDS = (TaskAdherence, RoleAdherence, ConversationCompleteness)
FINE = {"reasoning": "In order.", "evidence": [], "verdict": "pass"}


def first_turns(conversation: Conversation, count: int) -> Conversation:
    return replace(conversation, turns=conversation.turns[:count])


async def grow(evaluator, conversation, *, unit_of=conversation_unit, start=1):
    """A judgement after each turn."""
    return [
        await evaluator.evaluate(unit_of(first_turns(conversation, count)))
        for count in range(start, len(conversation.turns) + 1)
    ]


def shown_turns(call: JudgeCall) -> list[int]:
    return read_record(call.text).turns


def is_whole(call: JudgeCall) -> bool:
    return not any(place.at == "cut" for place in read_record(call.text).places)


def task_reply(*notes, settled=(), **dimensions):
    fine = {"goal": FINE, "rule": FINE, "procedure": FINE} | dimensions
    kept = {"settled": list(settled), "notes": list(notes)}
    return answer({"injection_suspected": False, **fine, "summary": "Because.", **kept})


def note(kind, at, quote):
    return {"kind": kind, "at": at, "quote": quote}


def fault(at, quote, reasoning="It was wrong."):
    return {"reasoning": reasoning, "evidence": [{"at": at, "quote": quote}], "verdict": "fail"}


def talk(turns: int, *, system: str = "Be kind. " * 500) -> Conversation:
    """Never short, for its system prompt."""
    builder = ConversationBuilder("talk", system=system)
    for n in range(turns):
        builder.turn(f"Please do task number {n} for me.").answer(f"I have done task number {n} for you.")
    return builder.build()


@pytest.mark.parametrize("unit_of", [turn_unit, conversation_unit])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_long_conversation_costs_its_new_turn_only(kind, unit_of):
    judge, endpoint = in_process_judge(honest)

    await grow(kind(judge=judge, states=StatesInMemory()), growing_conversation(9), unit_of=unit_of)

    assert len(endpoint.calls) == 9
    assert is_whole(endpoint.calls[0])
    assert shown_turns(endpoint.calls[-1]) == [7, 8]  # The judged one, and the answer that it replies to.
    assert "t8.user" in endpoint.calls[-1].text
    assert "t7.user\n| Hello" not in endpoint.calls[-1].messages[1]["content"]


@pytest.mark.parametrize("kind", KINDS)
async def test_fifty_turns_judged_after_every_turn_cost_at_most_60k_prompt_tokens(kind):
    judge, endpoint = in_process_judge(honest)

    await grow(kind(judge=judge, states=StatesInMemory()), growing_conversation(50))

    assert sum(len(call.text) // 4 for call in endpoint.calls) <= 60_000


async def test_a_short_conversation_is_read_whole_each_time():
    judge, endpoint = in_process_judge(honest)

    await grow(
        TaskAdherence(judge=judge, states=StatesInMemory()), talk(4, system="Be kind.")
    )  # Twice as long it would still be short.

    assert all(is_whole(call) for call in endpoint.calls)
    assert all("notes for later turns" not in call.text for call in endpoint.calls)


@pytest.mark.parametrize("kind", KINDS)
async def test_without_a_place_to_keep_states_every_judgement_reads_the_whole(kind):
    judge, endpoint = in_process_judge(honest)

    await grow(kind(judge=judge), talk(4))

    assert all(is_whole(call) for call in endpoint.calls)
    assert all("notes for later turns" not in call.text for call in endpoint.calls)


async def test_what_is_carried_outlives_the_process(tmp_path):
    for count in (5, 6):
        judge, endpoint = in_process_judge(honest)
        store = StoreThread(tmp_path / "verdicts.sqlite", clock=ManualClock())
        evaluator = TaskAdherence(judge=judge, states=StoredStates(store, clock=ManualClock()))
        await evaluator.evaluate(turn_unit(first_turns(talk(6), count)))
        store.close()

    assert not is_whole(endpoint.calls[0])
    assert read_record(endpoint.calls[0].text).notes[0].content == "Please do task number 4 for me."


async def test_a_changed_earlier_turn_takes_what_was_carried_from_there_on_away():
    judge, endpoint = in_process_judge(honest)
    states = StatesInMemory()
    evaluator = TaskAdherence(judge=judge, states=states)
    conversation = talk(6)
    await grow(evaluator, first_turns(conversation, 5))
    turns = list(conversation.turns)
    turns[3] = replace(turns[3], output="I have done something else.")

    await evaluator.evaluate(conversation_unit(replace(conversation, turns=tuple(turns))))

    record = read_record(endpoint.calls[-1].text)
    assert record.turns == [2, 3, 4, 5]
    assert "I have done something else." in endpoint.calls[-1].text
    assert [note.content for note in record.notes] == ["Please do task number 2 for me."]


async def test_other_rules_read_the_whole_again():
    judge, endpoint = in_process_judge(honest)
    evaluator = TaskAdherence(judge=judge, states=StatesInMemory())
    await grow(evaluator, talk(3))

    await evaluator.evaluate(turn_unit(talk(4, system="Be brief. " * 500)))

    assert is_whole(endpoint.calls[-1])


@pytest.mark.parametrize("kind", KINDS)
async def test_a_conversation_that_ended_is_read_whole_by_the_plain_question(kind):
    judge, endpoint = in_process_judge(honest)
    evaluator = kind(judge=judge, states=StatesInMemory())
    await grow(evaluator, talk(3))

    await evaluator.evaluate(replace(conversation_unit(talk(4)), ended=True))

    assert is_whole(endpoint.calls[-1])
    assert "notes for later turns" not in endpoint.calls[-1].text
    assert "updates" not in endpoint.calls[-1].text


async def test_after_many_judgements_in_a_row_the_whole_is_read_again():
    judge, endpoint = in_process_judge(honest)
    states = StatesInMemory()
    evaluator = TaskAdherence(judge=judge, states=states)

    await grow(evaluator, talk(MAX_PASSES + 3))

    wholes = [number for number, call in enumerate(endpoint.calls) if is_whole(call)]
    assert wholes == [0, MAX_PASSES + 1]


async def test_notes_over_the_bound_are_not_carried_and_the_next_judgement_reads_the_whole():
    many = [note("request", "t0.user", "Please do task number 0")] * (MAX_NOTES + 1)
    judge, endpoint = in_process_judge(in_order([task_reply(*many), task_reply(), task_reply()]))

    await grow(TaskAdherence(judge=judge, states=StatesInMemory()), talk(3))

    assert [is_whole(call) for call in endpoint.calls] == [True, True, False]


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(note("consent", "t0.user", "Yes, refund everything."), id="words that nobody said"),
        pytest.param(note("outcome", "t9.1", "Please do task"), id="no such place"),
        pytest.param(note("outcome", "system", "Be kind."), id="no place of a turn"),
    ],
)
async def test_a_note_that_does_not_check_out_is_not_carried_and_costs_no_repair(bad):
    good = note("request", "t0.user", "Please do task number 0")
    judge, endpoint = in_process_judge(in_order([task_reply(good, bad), task_reply()]))

    await grow(TaskAdherence(judge=judge, states=StatesInMemory()), talk(2))

    assert len(endpoint.calls) == 2
    assert is_whole(endpoint.calls[1])


async def test_notes_are_carried_until_they_are_settled():
    kept = [note("limit", "t0.user", "Please do task number 0"), note("promise", "t0.answer", "I have done task")]
    replies = [task_reply(*kept), task_reply(settled=[1]), task_reply(settled=[7, -1])]
    judge, endpoint = in_process_judge(in_order([*replies, task_reply()]))

    await grow(TaskAdherence(judge=judge, states=StatesInMemory()), talk(4))

    notes = [[(one.number, one.word) for one in read_record(call.text).notes] for call in endpoint.calls]
    assert notes == [[], [(1, "limit"), (2, "promise")], [(2, "promise")], [(2, "promise")]]


async def test_a_conversation_stays_failed_by_the_fault_of_an_earlier_turn():
    failing = task_reply(rule=fault("t0.answer", "I have done task number 0", "任务零不该做。"))
    judge, endpoint = in_process_judge(in_order([failing, task_reply()]))

    judgements = await grow(TaskAdherence(judge=judge, states=StatesInMemory()), talk(2))

    assert [one.outcome for one in judgements] == [Outcome.FAIL, Outcome.FAIL]
    assert judgements[1].details["dimensions"]["rule"] == {"verdict": "fail", "reasoning": "任务零不该做。"}
    assert judgements[1].reason == "任务零不该做。 Because."
    assert [(item.turn, item.quote) for item in judgements[1].evidence] == [(0, "I have done task number 0")]
    assert read_record(endpoint.calls[1].text).notes[0].word == "fault found on rule"


async def test_a_turn_does_not_fail_for_an_earlier_one():
    failing = task_reply(rule=fault("t0.answer", "I have done task number 0"))
    judge, _ = in_process_judge(in_order([failing, task_reply()]))

    judgements = await grow(TaskAdherence(judge=judge, states=StatesInMemory()), talk(2), unit_of=turn_unit)

    assert [one.outcome for one in judgements] == [Outcome.FAIL, Outcome.PASS]


@pytest.mark.parametrize("unit_of", [turn_unit, conversation_unit])
async def test_a_new_fault_needs_evidence_from_what_is_new(unit_of):
    old = task_reply(goal=fault("t0.answer", "I have done task number 0"))
    judge, endpoint = in_process_judge(in_order([task_reply(), old, old]))

    judgements = await grow(TaskAdherence(judge=judge, states=StatesInMemory()), talk(2), unit_of=unit_of)

    assert judgements[1].error_type == "evidence"
    assert "no evidence from turn 1" in endpoint.calls[2].messages[-1]["content"]


async def test_an_error_leaves_what_was_carried_as_it_is():
    judge, endpoint = in_process_judge(
        in_order([task_reply(), answer("no JSON"), answer("no JSON"), task_reply(), task_reply()])
    )

    judgements = await grow(TaskAdherence(judge=judge, states=StatesInMemory()), talk(3))

    assert [one.outcome for one in judgements] == [Outcome.PASS, Outcome.ERROR, Outcome.PASS]
    assert [place.at for place in read_record(endpoint.calls[3].text).places if place.at.endswith("user")] == [
        "t1.user",
        "t2.user",
    ]


async def test_instructions_that_a_judge_repeats_are_not_carried():
    told = "Only material faults count: a demand broken, a user misled, an act that nobody wanted; not style, length"
    failing = task_reply(rule=fault("t0.answer", "I have done task number 0", told))
    judge, endpoint = in_process_judge(in_order([failing, task_reply()]))

    judgements = await grow(TaskAdherence(judge=judge, states=StatesInMemory()), talk(2))

    assert told not in str(judgements)
    assert is_whole(endpoint.calls[1])


def intention(number, satisfied, *evidence):
    return {
        "intention": f"task {number}",
        "turn": number,
        "quote": f"Please do task number {number}",
        "reasoning": "Seen.",
        "evidence": list(evidence),
        "satisfied": satisfied,
    }


def update(number, satisfied, *evidence):
    return {"note": number, "reasoning": "Now.", "evidence": list(evidence), "satisfied": satisfied}


def step(*intentions, updates=()):
    return answer(
        {
            "injection_suspected": False,
            "updates": list(updates),
            "intentions": list(intentions),
            "summary": "So far.",
        }
    )


async def test_intentions_are_counted_over_all_turns_and_new_turns_may_meet_or_break_old_ones():
    replies = [
        step(intention(0, "no")),
        step(intention(1, "yes"), updates=[update(1, "yes")]),
        step(updates=[update(2, "no", {"at": "t2.answer", "quote": "I have done task number 2"})]),
    ]
    judge, endpoint = in_process_judge(in_order(replies))

    judgements = await grow(ConversationCompleteness(judge=judge, states=StatesInMemory()), talk(3))

    assert [one.score for one in judgements] == [0.0, 1.0, 0.5]
    assert [item.turn for item in judgements[2].evidence] == [2]
    assert [[(one.number, one.word) for one in read_record(call.text).notes] for call in endpoint.calls[1:]] == [
        [(1, "open")],
        [(1, "met"), (2, "met")],
    ]


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(step(updates=[update(2, "yes")]), id="no such note"),
        pytest.param(step(updates=[update(0, "yes")]), id="note 0"),
        pytest.param(step(intention(0, "yes")), id="an intention of an earlier turn"),
        pytest.param(step(updates=[update(1, "no", {"at": "t1.answer", "quote": "Never!"})]), id="no such words"),
    ],
)
async def test_what_contradicts_the_notes_is_repaired_once(bad):
    judge, endpoint = in_process_judge(in_order([step(intention(0, "yes")), bad, step(intention(1, "yes"))]))

    judgements = await grow(ConversationCompleteness(judge=judge, states=StatesInMemory()), talk(2))

    assert (judgements[1].score, judgements[1].details["repaired"], len(endpoint.calls)) == (1.0, True, 3)


def role_reply(*turns, source="system_prompt", role="Kind."):
    checks = [
        {
            "turn": number,
            "reasoning": "Rude." if quotes else "",
            "deviations": [{"kind": "tone", "at": f"t{number}.answer", "quote": quote} for quote in quotes],
            "adherent": "no" if quotes else "yes",
        }
        for number, *quotes in turns
    ]
    fields = {"injection_suspected": False, "role": role, "role_source": source}
    return answer({**fields, "turns": checks, "summary": "Mostly."})


async def test_the_role_score_is_over_all_turns_with_the_deviations_of_earlier_ones():
    replies = [role_reply((0, "I have done task number 0")), role_reply((1,)), role_reply((2,))]
    judge, endpoint = in_process_judge(in_order(replies))

    judgements = await grow(RoleAdherence(judge=judge, states=StatesInMemory()), talk(3))

    assert [one.score for one in judgements] == [0.0, 0.5, pytest.approx(2 / 3)]
    assert [told["adherent"] for told in judgements[2].details["turns"]] == [False, True, True]
    assert [(item.turn, item.quote) for item in judgements[2].evidence] == [(0, "I have done task number 0")]
    assert judgements[2].reason == "Rude. (0) Mostly."
    assert "Agent turns to check: 2." in endpoint.calls[2].text


async def test_a_role_that_the_user_set_is_carried_with_the_words_that_set_it():
    conversation = talk(3, system="")
    opening = replace(conversation.turns[0], user_input="You are a pirate now. " + "Ahoy! " * 700)
    conversation = replace(conversation, turns=(opening, *conversation.turns[1:]))
    replies = [role_reply((n,), source="user", role="A pirate.\n#x t0.user") for n in range(3)]
    judge, endpoint = in_process_judge(in_order(replies))

    await grow(RoleAdherence(judge=judge, states=StatesInMemory()), conversation)

    call = endpoint.calls[2]
    assert read_record(call.text).find("t0.user").content.startswith("You are a pirate now.")
    assert "role in force\n| A pirate. #x t0.user\n" in call.text
    assert list(broken_out(call)) == []


async def test_turns_before_any_role_adhere_once_one_is_set():
    replies = [role_reply(source="none"), role_reply(source="none"), role_reply((2, "I have done"), source="user")]
    judge, endpoint = in_process_judge(in_order(replies))

    long = talk(3, system="")
    opening = replace(long.turns[0], user_input="Hello. " * 600)
    judgements = await grow(
        RoleAdherence(judge=judge, states=StatesInMemory()), replace(long, turns=(opening, *long.turns[1:]))
    )

    assert [one.error_type for one in judgements] == ["no_role", "no_role", None]
    assert judgements[2].score == pytest.approx(2 / 3)
    assert "no message before these turns assigned a role" in endpoint.calls[1].text


async def test_a_role_that_was_there_cannot_be_denied_later():
    gone = role_reply(source="none")
    judge, _ = in_process_judge(in_order([role_reply((0,)), gone, gone]))

    judgements = await grow(RoleAdherence(judge=judge, states=StatesInMemory()), talk(2))

    assert judgements[1].error_type == "malformed"


async def test_a_verdict_says_what_the_judge_knew_from_notes():
    judge, _ = in_process_judge(honest)

    judgements = await grow(TaskAdherence(judge=judge, states=StatesInMemory()), talk(3))

    assert [one.details.get("known_from_notes") for one in judgements] == [None, 1, 2]
    assert all(one.details["coverage"] == 1.0 and "stretches" not in one.details for one in judgements)


@given(st.lists(st.tuples(texts, texts), min_size=2, max_size=4), st.data())
@settings(max_examples=25, deadline=None)
def test_no_text_that_is_carried_begins_a_line(exchanges, data):
    """Whatever stands in the conversation and whatever a judge makes of it."""
    import asyncio

    builder = ConversationBuilder("any", system="Rules. " * 600)
    for user, reply in exchanges:
        builder.turn(user).answer(reply)
    conversation = builder.build()

    def script(call: JudgeCall):
        turn = max(read_record(call.text).turns, default=0)
        user, reply = exchanges[turn]
        cut = data.draw(st.integers(0, 40))
        notes = [note("request", f"t{turn}.user", user[cut:]), note("offer", f"t{turn}.answer", reply[:cut])]
        return task_reply(*notes)

    judge, endpoint = in_process_judge(script)
    asyncio.run(grow(TaskAdherence(judge=judge, states=StatesInMemory()), conversation, unit_of=turn_unit))

    for call in endpoint.calls:
        assert list(broken_out(call)) == []
        json.dumps(call.messages).encode()
