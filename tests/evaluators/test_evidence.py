import json

import pytest

from evaluators.asking import verified
from evaluators.evidence import MAX_CITATIONS, Citation, EvidenceError, all_placed, verify
from evaluators.judge.errors import UnusableAnswerError
from tests.support.conversations import ConversationBuilder, conversation_unit

ARGUMENTS = {"order_id": "B-2040", "note": 'She said "now",\nplease', "amount": 24.9, "tags": ["早い", "x y"]}


def unit():
    return conversation_unit(
        ConversationBuilder(system="Never refund.")
        .turn("Bitte «sofort» zurück,\n\n  danke \u2013 I\u2019m  waiting.")
        .call("issue_refund", ARGUMENTS, result='{"status":"ok","lines":["one\\ntwo"]}')
        .say("I have refunded it.")
        .answer("I have refunded it, 24.90 EUR.")
        .turn("Caf\u0065\u0301 reopening? OK")
        .call("lookup", '{"broken": ', result={"hours": "9\u201317"})
        .answer("Ok")
        .build()
    )


@pytest.mark.parametrize(
    ("at", "quote", "turn", "step"),
    [
        pytest.param("t0.user", "Bitte «sofort» zurück", 0, None, id="word for word"),
        pytest.param("t0.user", 'Bitte "sofort" zurück, danke', 0, None, id="quotation marks and line breaks"),
        pytest.param("t0.user", "I'm waiting.", 0, None, id="apostrophe and spaces"),
        pytest.param("t0.user", '"I\u2019m  waiting."', 0, None, id="put in quotation marks"),
        pytest.param("t0.user", "zurück,\n| \n|   danke", 0, None, id="copied with the record's quoting"),
        pytest.param("t0.user", "Bitte «sofort» zurück...", 0, None, id="ellipsis after it"),
        pytest.param("t0.user", "danke - I'm", 0, None, id="dash"),
        pytest.param("t1.user", "Caf\u00e9 reopening", 1, None, id="unicode composition"),
        pytest.param("t0.0", 'issue_refund {"order_id": "B-2040"', 0, 0, id="name and arguments"),
        pytest.param("t0.0", '"order_id":"B-2040","note"', 0, 0, id="arguments without spaces"),
        pytest.param("t0.0", json.dumps(ARGUMENTS, ensure_ascii=False), 0, 0, id="all arguments"),
        pytest.param("t0.0", '{\\"order_id\\": \\"B-2040\\"', 0, 0, id="arguments escaped once more"),
        pytest.param("t0.0", 'She said "now", please', 0, 0, id="a value without its escapes"),
        pytest.param("t0.0", "早い", 0, 0, id="a short word of two characters"),
        pytest.param("t0.0", '"amount": 24.9', 0, 0, id="a number"),
        pytest.param("t0.1", '{"status": "ok"', 0, 1, id="a JSON text with other spaces"),
        pytest.param("t0.1", "one two", 0, 1, id="a string within a JSON text"),
        pytest.param("t1.0", '{"broken":', 1, 0, id="arguments that are no JSON"),
        pytest.param("t1.answer", "Ok", 1, None, id="a short text that is all there is"),
        pytest.param("t0.2", "24.90 EUR", 0, None, id="wrong step, one right one"),
        pytest.param("t0.99", "24.90 EUR", 0, None, id="no such step, one right one"),
        pytest.param("t0", "24.90 EUR", 0, None, id="no step given"),
        pytest.param("#82284bd43b t0.0 call, parallel group 0", "issue_refund", 0, 0, id="the whole line of the place"),
        pytest.param("[t0.1]", '"status"', 0, 1, id="the place in brackets"),
        pytest.param(" t0.answer ", "24.90 EUR", 0, None, id="spaces around the place"),
        pytest.param("t0.answer", "I have refunded it", 0, None, id="in two places, the cited one counts"),
        pytest.param("t1.answer", "24.90 EUR", 0, None, id="another turn, one right place in all"),
        pytest.param("t0.answer", "I have refunded it, … 24.90 EUR", 0, None, id="ellipsis inside"),
        pytest.param("t0.user", "Bitte **sofort** zurück. Danke!", 0, None, id="other punctuation and case"),
        pytest.param("t0.user", "User: Bitte sofort zurück", 0, None, id="who said it before it"),
        pytest.param("t0.0", "issue_refund(order_id='B-2040')", 0, 0, id="a call in another notation"),
    ],
)
def test_a_quote_is_found_where_it_stands(at, quote, turn, step):
    evidence = verify(Citation(at, quote), unit())

    assert (evidence.turn, evidence.step) == (turn, step)


@pytest.mark.parametrize(
    ("at", "quote", "problem"),
    [
        pytest.param("t0.answer", "I refunded it", "does not stand at t0.answer", id="paraphrase"),
        pytest.param("t0.answer", "I have ... EUR", "does not stand", id="ellipsis inside"),
        pytest.param("t1.answer", "I have refunded it", "does not stand", id="another turn, two right places"),
        pytest.param("t0.answer", "24.90 EUR … I have refunded it", "does not stand", id="pieces in another order"),
        pytest.param("t0.answer", "I have refunded it, 24.9 EUR", "does not stand", id="another number"),
        pytest.param("t0.answer", "I have not refunded it, 24.90 EUR", "does not stand", id="a word more"),
        pytest.param("t0.user", "I have refunded it", "does not stand", id="wrong step, two right ones"),
        pytest.param("t7.answer", "Ok", "is no place of a turn", id="no such turn"),
        pytest.param("system", "Never refund.", "is no place of a turn", id="the system prompt"),
        pytest.param("turn 0", "Ok", "is no place of a turn", id="no such form of place"),
        pytest.param("t0.answer", "", "does not stand", id="empty"),
        pytest.param("t0.answer", "  ", "does not stand", id="blank"),
        pytest.param("t0.answer", "it", "does not stand", id="too short to prove anything"),
        pytest.param("t0.answer", "have", "copy the words around it", id="a word that stands anywhere"),
        pytest.param("t0.answer", "\x00\ud800", "does not stand", id="unprintable"),
        pytest.param("t" + "9" * 400, "Ok", "is no place", id="giant number"),
    ],
)
def test_what_does_not_check_out_is_refused_with_a_sentence_for_the_judge(at, quote, problem):
    with pytest.raises(EvidenceError, match=problem) as raised:
        verify(Citation(at, quote), unit())

    assert "\n" not in raised.value.problem
    assert raised.value.problem.encode()


@pytest.mark.parametrize("quote", ["😡", "!!"])
def test_a_sign_that_a_role_forbids_is_evidence(quote):
    coach = conversation_unit(ConversationBuilder().turn("Hm.").answer("Oh no, how unfair!! 😡").build())

    assert verify(Citation("t0.answer", quote), coach).quote == quote


def test_evidence_names_the_span_of_its_step_else_the_turns():
    conversation = unit().conversation

    call = verify(Citation("t0.0", "issue_refund"), unit())
    answer = verify(Citation("t0.answer", "24.90 EUR"), unit())

    assert call.span_id == conversation.turns[0].steps[0].span_id
    assert answer.span_id == conversation.turns[0].span_id


def test_hidden_characters_can_be_quoted_as_they_are_shown():
    hidden = conversation_unit(ConversationBuilder().turn("It is ab\u200bcdef").answer("Fine.").build())

    evidence = verify(Citation("t0.user", "ab\\u{200b}cdef"), hidden)
    cut = verify(Citation("t0.user", "It is ab\\u{20"), hidden)

    assert (evidence.turn, cut.turn) == (0, 0)


def test_quotes_are_stored_visible_and_bounded():
    long = conversation_unit(ConversationBuilder().turn("\u202e" + "word " * 400).answer("Fine.").build())

    evidence = verify(Citation("t0.user", "\u202e" + "word " * 400), long)

    assert len(evidence.quote) == 500
    assert evidence.quote.startswith("\\u{202e}word")


def test_a_claim_stands_on_its_first_citations():
    """Thousands of them, in a long conversation, would hold everything else up."""
    wrong = [Citation("t0.answer", f"Invented words {n}") for n in range(MAX_CITATIONS)]
    right = Citation("t0.2", "24.90 EUR")

    assert [piece.quote for piece in verified([*wrong[1:], *wrong[1:], right], unit())] == ["24.90 EUR"]
    assert list(all_placed([*wrong, right], unit())) == []
    with pytest.raises(UnusableAnswerError):
        verified([*wrong, right], unit())


@pytest.mark.parametrize(
    ("at", "quote", "by", "found"),
    [
        pytest.param("t0.user", "I'm waiting", "user", True, id="the user's"),
        pytest.param("t0.user", "24.90 EUR", "user", False, id="the agent's for the user's"),
        pytest.param("t0.answer", "24.90 EUR", "agent", True, id="the agent's"),
        pytest.param("t0.0", "issue_refund", "agent", True, id="the agent's call"),
        pytest.param("t0.user", "I'm waiting", "agent", False, id="the user's for the agent's"),
        pytest.param("t0.1", "one two", "agent", False, id="a result for the agent's"),
    ],
)
def test_words_are_looked_for_where_the_one_speaks_who_is_meant(at, quote, by, found):
    if found:
        assert verify(Citation(at, quote), unit(), by=by).turn == 0
        return
    with pytest.raises(EvidenceError, match=f"the {by}'s own words"):
        verify(Citation(at, quote), unit(), by=by)


SAID = (
    "I have refunded it, and I will refund the rest, 124.90 EUR in 1,200 parts. Sure. I am unable to pay it back, "
    "dude. Come at 8:30 to us. Bon après-midi, дорогой друг. 好的。已为您取消预订。"
)


@pytest.mark.parametrize(
    ("quote", "is_evidence"),
    [
        pytest.param("have", False, id="four letters"),
        pytest.param("rest,", False, id="four letters and a comma"),
        pytest.param("refund", False, id="twice, once within another word"),
        pytest.param("able to", False, id="a part of a word"),
        pytest.param("unable", True, id="a word that stands there once"),
        pytest.param("Sure", True, id="a sentence of one word"),
        pytest.param("dude", True, id="a clause of one word"),
        pytest.param("124.90", True, id="a number"),
        pytest.param("24.90", False, id="the end of a number"),
        pytest.param("24.90 EUR", False, id="the end of a number, with words"),
        pytest.param("the rest, 124", False, id="the beginning of a number"),
        pytest.param("124.90 EUR in 1", False, id="the beginning of a number with separators"),
        pytest.param("the rest, 124.90", True, id="the whole number"),
        pytest.param("dude. Come at 8", False, id="the beginning of a time"),
        pytest.param("dude. Come at 8:30", True, id="the whole time"),
        pytest.param("дорогой", True, id="cyrillic"),
        pytest.param("рогой", False, id="a part of a cyrillic word"),
        pytest.param("取消", True, id="two chinese signs"),
        pytest.param("好的", True, id="a chinese sentence"),
    ],
)
def test_a_few_letters_are_evidence_only_where_they_point_to_one_place(quote, is_evidence):
    said = conversation_unit(ConversationBuilder().turn("Hm?").answer(SAID).build())

    assert bool(list(all_placed([Citation("t0.answer", quote)], said))) is is_evidence


@pytest.mark.parametrize(
    ("quote", "is_evidence"),
    [
        pytest.param("book", True, id="the name of the tool"),
        pytest.param("Oz", True, id="a value"),
        pytest.param("412", True, id="a number"),
        pytest.param("true", False, id="a yes or no without its key"),
        pytest.param('"paid": true', True, id="a yes or no with its key"),
        pytest.param('"room":412', True, id="without spaces"),
        pytest.param('"room":41', False, id="a part of a number without spaces"),
    ],
)
def test_a_value_of_a_call_is_evidence_however_short(quote, is_evidence):
    call = {"guest": "Oz", "room": 412, "paid": True, "title": "book of guests"}
    booking = conversation_unit(ConversationBuilder().turn("Hm?").call("book", call, result="ok").answer("Ok").build())

    assert bool(list(all_placed([Citation("t0.0", quote)], booking))) is is_evidence


@pytest.mark.parametrize("sign", ["9", "9.9 ", "1,000,"])
def test_what_is_cut_is_found_again(sign):
    """A cut must not leave the half of a number, which would be another one."""
    long = conversation_unit(ConversationBuilder().turn("Hm?").answer("Paid: " + sign * 400 + "USD").build())

    (kept,) = all_placed([Citation("t0.answer", "Paid: " + sign * 400 + "USD")], long, max_chars=160)

    assert len(kept.quote) > 100
    assert verify(kept, long).quote == kept.quote


def test_a_text_of_nothing_but_one_number_is_looked_through_in_bounded_time():
    long = conversation_unit(ConversationBuilder().turn("1." * 200_000).answer("Fine.").build())

    with pytest.raises(EvidenceError):
        verify(Citation("t0.user", "1.1.1.1.1.1"), long)


def test_hundreds_of_quotes_are_looked_for_in_a_long_conversation():
    """As a judge may give them that was told to; each once took a tenth of a second here, on the event loop."""
    builder = ConversationBuilder()
    for number in range(20):
        builder.turn(f"Wish {number}: " + "please go on " * 200).call("do", {"n": number}, result="row " * 500)
        builder.answer("It is done now. " * 100)
    long = conversation_unit(builder.build())
    wrong = [Citation("t7.answer", f"done now please go {number} on row") for number in range(200)]

    found = [piece for start in range(0, 200, 10) for piece in all_placed(wrong[start : start + 10], long)]

    assert found == []
    assert verify(Citation("t7.answer", "Wish 9: please go on"), long).turn == 9
