import pytest

from evaluators.conversation_completeness.evaluator import CompletenessOptions, ConversationCompleteness
from evaluators.verdict import Outcome, Unit
from tests.support.conversations import ConversationBuilder, conversation_unit, turn_unit
from tests.support.judge_reply import answer, in_order
from tests.support.judges import scripted_judge

CONVERSATION = (
    ConversationBuilder("trip")
    .turn("Book a table for two and a taxi, please.")
    .call("book_table", {"people": 2}, result={"ok": True})
    .answer("The table is booked. I cannot order taxis.")
    .turn("Cancel the table again. Thanks!")
    .answer("Cancelled.")
    .build()
)
UNIT = conversation_unit(CONVERSATION)


def intention(text, number, quote, satisfied, *evidence):
    return {
        "intention": text,
        "turn": number,
        "quote": quote,
        "reasoning": "Seen.",
        "evidence": list(evidence),
        "satisfied": satisfied,
    }


TABLE = intention("a table", 0, "Book a table for two", "yes")
TAXI = intention("a taxi", 0, "a taxi, please", "no", {"at": "t0.answer", "quote": "I cannot order taxis."})
CANCEL = intention("cancel", 1, "Cancel the table again", "yes")


def reply(*intentions, summary="Because."):
    return answer({"injection_suspected": False, "intentions": list(intentions), "summary": summary})


async def judged(*replies, unit: Unit = UNIT, options: CompletenessOptions | None = None):
    async with scripted_judge(in_order(replies)) as (judge, server):
        evaluator = ConversationCompleteness(options or CompletenessOptions(), judge=judge)
        return await evaluator.evaluate(unit), server


@pytest.mark.parametrize(
    ("intentions", "options", "score", "outcome"),
    [
        pytest.param((TABLE, TAXI, CANCEL), {}, 2 / 3, Outcome.PASS, id="two of three"),
        pytest.param((TABLE, TAXI), {}, 0.5, Outcome.PASS, id="threshold met exactly"),
        pytest.param((TAXI,), {}, 0.0, Outcome.FAIL, id="none"),
        pytest.param((TABLE, TAXI, CANCEL), {"threshold": 0.9}, 2 / 3, Outcome.FAIL, id="higher threshold"),
        pytest.param((TABLE, TAXI, CANCEL), {"strict_mode": True}, 0.0, Outcome.FAIL, id="strict"),
        pytest.param((TABLE, CANCEL), {"strict_mode": True}, 1.0, Outcome.PASS, id="strict and all satisfied"),
        pytest.param(({**TABLE, "satisfied": "void"}, TAXI, CANCEL), {}, 0.5, Outcome.PASS, id="void does not count"),
    ],
)
async def test_the_score_is_satisfied_intentions_by_all(intentions, options, score, outcome):
    judgement, _ = await judged(reply(*intentions), options=CompletenessOptions(**options))

    assert (judgement.score, judgement.outcome) == (pytest.approx(score), outcome)
    assert (judgement.score >= judgement.details["threshold"]) == (outcome is Outcome.PASS)


async def test_each_intention_is_reported_with_its_turn_its_words_and_what_became_of_it():
    judgement, _ = await judged(reply(TABLE, TAXI))

    assert [(item["turn"], item["quote"], item["satisfied"]) for item in judgement.details["intentions"]] == [
        (0, "Book a table for two", "yes"),
        (0, "a taxi, please", "no"),
    ]
    assert [(item.turn, item.quote) for item in judgement.evidence] == [(0, "I cannot order taxis.")]


async def test_what_is_cited_for_a_yes_costs_no_repair():
    judgement, server = await judged(reply({**TABLE, "evidence": [{"at": "t0.answer", "quote": "No such words here"}]}))

    assert (judgement.score, judgement.evidence, len(server.calls)) == (1.0, (), 1)


async def test_what_was_never_answered_is_shown_by_the_users_own_words():
    judgement, _ = await judged(reply({**TAXI, "evidence": []}))

    assert [(item.turn, item.quote) for item in judgement.evidence] == [(0, "a taxi, please")]


@pytest.mark.parametrize(
    "intentions",
    [pytest.param((), id="none"), pytest.param(({**TABLE, "satisfied": "void"},), id="only withdrawn ones")],
)
async def test_without_intentions_there_is_no_score_unless_configured(intentions):
    plain, _ = await judged(reply(*intentions))
    configured, _ = await judged(reply(*intentions), options=CompletenessOptions(without_intention="pass"))

    assert (plain.outcome, plain.score, plain.error_type) == (Outcome.NOT_ASSESSABLE, None, "no_intentions")
    assert (configured.outcome, configured.score) == (Outcome.PASS, 1.0)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param({**TABLE, "quote": "Book a hotel"}, id="words nobody said"),
        pytest.param({**TABLE, "quote": "I cannot order taxis"}, id="words of the agent"),
        pytest.param({**TABLE, "turn": 9}, id="no such turn"),
        pytest.param({**TABLE, "turn": -1}, id="negative turn"),
        pytest.param({**TAXI, "evidence": [{"at": "t0.answer", "quote": "No taxis here"}]}, id="evidence not there"),
    ],
)
async def test_what_does_not_check_out_is_repaired_once_and_then_an_error(bad):
    repaired, _ = await judged(reply(bad), reply(TABLE, TAXI))
    judgement, server = await judged(reply(bad), reply(bad))

    assert (repaired.score, repaired.details["repaired"]) == (0.5, True)
    assert (judgement.outcome, judgement.score, judgement.error_type) == (Outcome.ERROR, None, "evidence")
    assert len(server.calls) == 2


async def test_a_turn_counts_its_own_intentions_only():
    unit = turn_unit(CONVERSATION, 1)

    judgement, server = await judged(reply(TABLE, CANCEL), reply(CANCEL), unit=unit)

    assert (judgement.score, len(server.calls)) == (1.0, 2)
    assert "Judge turn 1 only" in server.calls[0].text


async def test_reasons_come_in_the_judges_words_or_are_made_of_the_numbers():
    worded, _ = await judged(reply(TABLE, TAXI, summary="出租车没有订到。"))
    silent, _ = await judged(reply(TABLE, TAXI, summary=""))

    assert worded.reason == "出租车没有订到。"
    assert silent.reason == "1 of 2 intentions are satisfied."
