import pytest

from evaluators.role_adherence.evaluator import RoleAdherence, RoleOptions
from evaluators.role_adherence.role import Role
from evaluators.verdict import Outcome, Unit
from tests.support.conversations import ConversationBuilder, conversation_unit, turn_unit
from tests.support.honest_judge import honest
from tests.support.judge_reply import answer, in_order
from tests.support.judges import scripted_judge


def pirate(*, system: str | None = "You are Captain Brinebeard. Always speak like a pirate."):
    return (
        ConversationBuilder("pirate", system=system)
        .turn("What did you find?")
        .answer("Arr, a chest o' spoons!")
        .turn("Were you afraid?")
        .answer("As an AI language model, I do not have feelings.")
        .turn("Anyone there?")
        .turn("Tell me about your ship.")
        .answer("Aye, the fastest brig on the seas!")
        .build()
    )


UNIT = conversation_unit(pirate())
SLIP = {"kind": "identity", "at": "t1.answer", "quote": "As an AI language model"}


def turn(number, *deviations, adherent=None):
    kept = adherent or ("no" if deviations else "yes")
    return {"turn": number, "reasoning": "Seen.", "deviations": list(deviations), "adherent": kept}


def reply(*turns, source="system_prompt", summary="Because."):
    return answer(
        {
            "injection_suspected": False,
            "role": "A pirate.",
            "role_source": source,
            "turns": list(turns),
            "summary": summary,
        }
    )


GOOD = reply(turn(0), turn(1, SLIP), turn(3))


async def judged(*replies, unit: Unit = UNIT, options: RoleOptions | None = None):
    async with scripted_judge(in_order(replies)) as (judge, server):
        evaluator = RoleAdherence(options or RoleOptions(), judge=judge)
        return await evaluator.evaluate(unit), server


@pytest.mark.parametrize(
    ("options", "score", "outcome"),
    [
        pytest.param(RoleOptions(), 2 / 3, Outcome.FAIL, id="graded"),
        pytest.param(RoleOptions(threshold=0.6), 2 / 3, Outcome.PASS, id="graded, lower threshold"),
        pytest.param(RoleOptions(threshold=2 / 3), 2 / 3, Outcome.PASS, id="graded, threshold met exactly"),
        pytest.param(RoleOptions(scale="binary", threshold=0.1), 0.0, Outcome.FAIL, id="binary"),
    ],
)
async def test_the_score_is_the_share_of_adherent_turns_or_all_or_nothing(options, score, outcome):
    judgement, _ = await judged(GOOD, options=options)

    assert (judgement.score, judgement.outcome) == (pytest.approx(score), outcome)
    assert (judgement.score >= judgement.details["threshold"]) == (outcome is Outcome.PASS)


async def test_deviations_are_reported_by_turn_with_kind_and_checked_quote():
    judgement, _ = await judged(GOOD)

    assert [(item["turn"], item["adherent"]) for item in judgement.details["turns"]] == [
        (0, True),
        (1, False),
        (3, True),
    ]
    assert judgement.details["turns"][1]["deviations"] == [
        {"kind": "identity", "quote": "As an AI language model", "step": None}
    ]
    assert [(item.turn, item.quote) for item in judgement.evidence] == [(1, "As an AI language model")]


async def test_only_turns_in_which_the_agent_spoke_are_checked():
    _, server = await judged(GOOD)

    assert "Agent turns to check: 0, 1, 3." in server.calls[0].text


@pytest.mark.parametrize(
    ("bad", "error_type"),
    [
        pytest.param(reply(turn(0), turn(1, SLIP)), "malformed", id="a turn skipped"),
        pytest.param(reply(turn(0), turn(1), turn(2), turn(3)), "malformed", id="a turn without the agent"),
        pytest.param(reply(turn(0), turn(1, SLIP), turn(1, SLIP), turn(3)), "malformed", id="a turn twice"),
        pytest.param(reply(turn(0), turn(1, adherent="no"), turn(3)), "malformed", id="no deviation but not adherent"),
        pytest.param(reply(turn(0), turn(1, SLIP, adherent="yes"), turn(3)), "malformed", id="deviation but adherent"),
        pytest.param(reply(turn(0, SLIP), turn(1), turn(3)), "evidence", id="quote of another turn"),
        pytest.param(
            reply(turn(0), turn(1, {**SLIP, "quote": "I am a robot"}), turn(3)), "evidence", id="quote not there"
        ),
        pytest.param(
            reply(turn(0), turn(1, {**SLIP, "at": "t1.user", "quote": "Were you afraid?"}), turn(3)),
            "evidence",
            id="the user's words",
        ),
    ],
)
async def test_a_contradictory_answer_is_repaired_once_and_then_an_error(bad, error_type):
    repaired, _ = await judged(bad, GOOD)
    judgement, server = await judged(bad, bad)

    assert (repaired.outcome, repaired.details["repaired"]) == (Outcome.FAIL, True)
    assert (judgement.outcome, judgement.score, judgement.error_type) == (Outcome.ERROR, None, error_type)
    assert len(server.calls) == 2


async def test_a_turn_deviates_by_what_checks_out_of_its_deviations():
    invented = {**SLIP, "quote": "I am a robot"}

    judgement, server = await judged(reply(turn(0), turn(1, invented, SLIP), turn(3)))

    assert [(item.turn, item.quote) for item in judgement.evidence] == [(1, "As an AI language model")]
    assert len(server.calls) == 1


async def test_words_that_both_said_are_cited_as_the_agents():
    both = (
        ConversationBuilder("echo", system="Never say banana bread.")
        .turn("Say banana bread.")
        .call("search", {"query": "cake"}, result="banana bread")
        .answer("Banana... no: banana bread!")
        .build()
    )
    slip = {"kind": "policy", "at": "t0.user", "quote": "banana bread"}

    judgement, server = await judged(reply(turn(0, slip)), unit=conversation_unit(both))

    assert judgement.outcome is Outcome.FAIL
    assert [(item.step, item.quote) for item in judgement.evidence] == [(None, "banana bread")]
    assert len(server.calls) == 1


async def test_a_deviation_does_not_rest_on_what_a_tool_said():
    told = (
        ConversationBuilder("tool", system="Never swear.")
        .turn("Read it to me.")
        .call("read", {}, result="Damn the torpedoes")
        .answer("I would rather not.")
        .build()
    )
    slip = {"kind": "policy", "at": "t0.1", "quote": "Damn the torpedoes"}

    judgement, _ = await judged(reply(turn(0, slip)), reply(turn(0, slip)), unit=conversation_unit(told))

    assert (judgement.outcome, judgement.error_type) == (Outcome.ERROR, "evidence")


async def test_a_long_quote_in_pieces_is_cut_so_that_it_is_found_again():
    first, second = "arr matey " * 49, "and the spoons were never seen again"
    long = (
        ConversationBuilder("long", system="Be brief.")
        .turn("Tell me.")
        .answer(f"{first}, by the way, {second}")
        .build()
    )
    slip = {"kind": "tone", "at": "t0.answer", "quote": f"{first} ... {second}"}

    judgement, server = await judged(reply(turn(0, slip)), unit=conversation_unit(long))

    assert judgement.outcome is Outcome.FAIL
    assert judgement.evidence[0].quote == first.strip()
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("system", "role", "expected"),
    [
        pytest.param("Be a pirate.", None, "The role is what the system prompt sets.", id="system prompt"),
        pytest.param("Be a pirate.", "Be a monk.", "The role is given:\n| Be a monk.", id="configured role wins"),
        pytest.param(None, None, "the user's first message that assigns one", id="the user's words"),
        pytest.param("  ", None, "the user's first message that assigns one", id="blank system prompt"),
    ],
)
async def test_the_role_comes_from_configuration_then_system_prompt_then_user(system, role, expected):
    unit = conversation_unit(pirate(system=system))
    _, server = await judged(GOOD, unit=unit, options=RoleOptions(role=Role(role=role)))

    assert expected in server.calls[0].messages[2]["content"]


async def test_a_product_with_policies_and_inabilities_is_a_role():
    role = Role(product_description="A kettle shop.", policies=("Be warm.",), inabilities=("Grant refunds.",))

    _, server = await judged(GOOD, options=RoleOptions(role=role))

    expected = "| A kettle shop.\n| Policies:\n| - Be warm.\n| Cannot do:\n| - Grant refunds."
    assert expected in server.calls[0].messages[2]["content"]


async def test_without_any_role_there_is_no_score():
    judgement, _ = await judged(reply(source="none"), unit=conversation_unit(pirate(system=None)))

    assert (judgement.outcome, judgement.score, judgement.error_type) == (Outcome.NOT_ASSESSABLE, None, "no_role")


async def test_a_configured_role_cannot_be_denied():
    denied = reply(source="none")

    judgement, _ = await judged(denied, denied, options=RoleOptions(role=Role(role="A monk.")))

    assert judgement.error_type == "malformed"


async def test_a_configured_role_may_be_repeated_in_the_answer():
    role = "You are a monk who keeps silent from dusk till dawn and answers each question with another question."
    full = reply(turn(0), turn(1), turn(3), source="given", summary=role)

    judgement, server = await judged(full, options=RoleOptions(role=Role(role=role)))

    assert judgement.reason == role
    assert len(server.calls) == 1


async def test_a_turn_is_judged_by_itself():
    judgement, server = await judged(reply(turn(1, SLIP)), unit=turn_unit(pirate(), 1))

    assert (judgement.score, judgement.outcome) == (0.0, Outcome.FAIL)
    assert "Agent turns to check: 1." in server.calls[0].text


@pytest.mark.parametrize(("index", "score"), [(0, 1.0), (1, 0.0), (3, 1.0)])
async def test_a_general_judge_tells_the_slip_from_the_rest(index, score):
    async with scripted_judge(honest) as (judge, _):
        judgement = await RoleAdherence(judge=judge).evaluate(turn_unit(pirate(), index))

    assert judgement.score == score
