import pytest

from evaluators.transcript.fence import Fence
from evaluators.transcript.record import record_of
from tests.support.conversations import ConversationBuilder

FENCE = Fence(b"0123456789abcdef")


def long_conversation(*, turns: int = 40, result_chars: int = 4000):
    builder = ConversationBuilder(system="Never refund more than 20 EUR. " * 10, tools=("lookup", "refund"))
    for index in range(turns):
        builder.turn(f"Request number {index}, please.")
        builder.call("lookup", {"n": index}, result=f"<{index}>" + "x" * result_chars)
        if index == 3:
            builder.call("refund", {"n": index}, result="E-42: refund refused " + "y" * 300, error=True)
        builder.answer(f"Answer number {index}.")
    return builder.build()


def test_within_the_budget_nothing_is_touched():
    record = record_of(long_conversation(turns=2), fence=FENCE, max_tokens=100_000)

    assert record.coverage == 1.0
    assert " cut " not in record.text


@pytest.mark.parametrize("max_tokens", [1000, 2000, 5000, 12_000, 30_000])
def test_the_budget_holds(max_tokens):
    record = record_of(long_conversation(), fence=FENCE, max_tokens=max_tokens)

    assert record.tokens <= max_tokens
    assert 0 < record.coverage < 1
    assert f"#{record.mark} cut " in record.text


def test_prompt_inputs_errors_and_last_turns_outlast_long_results():
    record = record_of(long_conversation(), fence=FENCE, max_tokens=5000)

    assert record.text.startswith(f"#{record.mark} system\n| Never refund more than 20 EUR.")
    assert all(f"| Request number {index}, please." in record.text for index in range(40))
    assert "E-42: refund refused" in record.text
    assert "| <39>xxx" in record.text
    assert "Answer number 39." in record.text


def test_what_is_left_out_is_counted_and_placed():
    record = record_of(long_conversation(turns=200), fence=FENCE, max_tokens=1500)

    assert record.tokens <= 1500
    assert f"#{record.mark} cut " in record.text
    assert " places, t" in record.text
    assert "| Request number 199, please." in record.text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("z" * 200_000, id="letters"),
        pytest.param("\n" * 200_000, id="line breaks"),
        pytest.param("\u200b" * 200_000, id="escaped characters"),
        pytest.param("漢" * 200_000, id="three-byte characters"),
    ],
)
def test_a_giant_input_costs_at_most_the_budget(text):
    conversation = ConversationBuilder(system="Be brief.").turn(text).answer("Ok.").build()

    record = record_of(conversation, fence=FENCE, max_tokens=8000)

    assert record.tokens <= 8000
    assert "| Ok." in record.text
    assert record.coverage < 0.2


def test_a_turn_of_hundreds_of_calls_costs_at_most_the_budget():
    builder = ConversationBuilder().turn("Loop.")
    for number in range(500):
        builder.call("step", {"n": number})
    conversation = builder.answer("Done.").build()

    record = record_of(conversation, fence=FENCE, max_tokens=2000)

    assert record.tokens <= 2000
    assert "| Done." in record.text


def test_a_growing_conversation_within_a_step_keeps_its_earlier_cuts():
    earlier = record_of(long_conversation(turns=20), fence=FENCE, max_tokens=20_000).text
    later = record_of(long_conversation(turns=22), fence=FENCE, max_tokens=20_000).text

    shared = next(i for i, (a, b) in enumerate(zip(earlier, later, strict=False)) if a != b)

    assert shared > len(earlier) * 0.7


def test_calls_that_the_rules_speak_of_outlast_others():
    builder = ConversationBuilder(system="Call verify_identity before a refund.")
    for index in range(40):
        builder.turn(f"Request {index}.")
        builder.call("verify_identity", {"n": index}, result={"verified": True, "note": f"v{index} " + "v" * 800})
        builder.call("lookup", {"n": index}, result=f"l{index} " + "x" * 4000)
        builder.answer(f"Answer {index}.")

    record = record_of(builder.build(), fence=FENCE, max_tokens=16_000)

    assert all(f'"note": "v{index} ' + "v" * 800 in record.text for index in range(40))
    assert "x" * 2000 not in record.text
    assert record.coverage < 0.6
