import pytest

from evaluators.leak import LEFT_OUT, leaks, recites, without_leaks

INSTRUCTIONS = "You audit recorded conversations between users and an AI agent. The next message is the record of one."


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        pytest.param("The agent was rude in turn two.", "", False, id="own words"),
        pytest.param("The record is marked #abc123.", "", True, id="the mark"),
        pytest.param(f"I was told: {INSTRUCTIONS}", "", True, id="recited"),
        pytest.param(INSTRUCTIONS.upper().replace(" ", " - "), "", True, id="recited with other case and punctuation"),
        pytest.param("recorded conversations between users and an AI agent", "", False, id="a few words"),
        pytest.param(INSTRUCTIONS, f"| {INSTRUCTIONS}", False, id="words that the conversation holds"),
        pytest.param("", "", False, id="empty"),
    ],
)
def test_leaks_are_told_from_ordinary_words(text, known, expected):
    assert leaks(["Fine.", text], mark="abc123", instructions=INSTRUCTIONS, known=known) is expected


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param(
            "The refund at #abc123 t2.1 came first.", "The refund at t2.1 came first.", id="a place with the mark"
        ),
        pytest.param("abc123", "", id="the mark alone"),
        pytest.param(f"As asked: {INSTRUCTIONS}", LEFT_OUT, id="a criterion that is quoted"),
        pytest.param("The agent was rude.", "The agent was rude.", id="own words"),
    ],
)
def test_what_a_judge_repeats_on_its_way_is_left_out(text, left):
    assert without_leaks(text, mark="abc123", instructions=INSTRUCTIONS, known="") == left


def test_only_a_long_run_is_a_recital():
    long = " ".join(f"word{number}" for number in range(60))

    assert not recites([INSTRUCTIONS], instructions=INSTRUCTIONS, known="")
    assert recites([f"I was told: {long}"], instructions=long, known="")
    assert not recites([long], instructions=long, known=long)
