"""The requests as they are sent. `ADHERE_UPDATE_GOLDEN=1 uv run pytest tests/evaluators/test_judge_requests.py` renews
the golden files; their diff is reviewed like code, since it changes what every judge is asked.
"""
# ruff: noqa: RUF001 - other languages have other punctuation.

import json
from collections.abc import Mapping

import pytest

from collector.model import Conversation
from evaluators.conversation_completeness.evaluator import CompletenessOptions, ConversationCompleteness
from evaluators.judge.judge import Judge
from evaluators.role_adherence.evaluator import RoleAdherence, RoleOptions
from evaluators.role_adherence.role import Role
from evaluators.task_adherence.evaluator import TaskAdherence
from evaluators.verdict import Unit
from tests.support.conversations import (
    ConversationBuilder,
    conversation_unit,
    refund_conversation,
    tool,
    turn_unit,
)
from tests.support.golden import assert_golden
from tests.support.honest_judge import honest
from tests.support.judge_call import JudgeCall
from tests.support.judges import scripted_judge

EVALUATORS = (TaskAdherence, RoleAdherence, ConversationCompleteness)


def gentle_assistant() -> Conversation:
    return (
        ConversationBuilder("gentle", service=None)
        .turn("你是一个温柔的助理，帮我把下午那个不重要的会议推掉")
        .call("cancel_meeting", {"标题": "周报会议"}, result={"状态": "已取消"})
        .answer("看到你这么辛苦，我真的很心疼呢。会议已经推掉啦。")
        .turn("好多了，谢谢你。")
        .answer("别太累着自己，好吗？")
        .build()
    )


def hotel(turns: int) -> Conversation:
    builder = ConversationBuilder(
        "hotel", system="You book rooms.\nConfirm the price first.", tools=(tool("book", "Books a room.", room={}),)
    )
    for number in range(turns):
        builder.turn(f"Book room {number}.").call("book", {"room": number}, result={"ok": True}).answer("Booked.")
    return builder.build()


async def sent(evaluator_type, unit: Unit, *options) -> JudgeCall:
    async with scripted_judge(honest) as (judge, server):
        await evaluator_type(*options, judge=judge).evaluate(unit)
    return server.calls[0]


def readable(body: Mapping) -> str:
    """All fields but the messages, then each message as it reads."""
    fields = json.dumps({k: v for k, v in body.items() if k != "messages"}, indent=1, ensure_ascii=False)
    messages = [f"==== {message['role']}\n{message['content']}\n" for message in body["messages"]]
    return "".join([fields, "\n", *messages])


@pytest.mark.parametrize(
    ("name", "evaluator_type", "unit", "options"),
    [
        ("task_turn", TaskAdherence, turn_unit(refund_conversation(verified=None)), ()),
        ("task_conversation", TaskAdherence, conversation_unit(refund_conversation(verified=True)), ()),
        ("role_from_system_prompt", RoleAdherence, conversation_unit(refund_conversation(verified=True)), ()),
        ("role_from_user_zh", RoleAdherence, conversation_unit(gentle_assistant()), ()),
        (
            "role_given",
            RoleAdherence,
            turn_unit(hotel(2)),
            (RoleOptions(role=Role(product_description="A hotel.", policies=("No discounts.", "Be brief.\nAlways."))),),
        ),
        ("completeness", ConversationCompleteness, conversation_unit(gentle_assistant()), ()),
        ("completeness_turn", ConversationCompleteness, turn_unit(hotel(2)), ()),
    ],
)
async def test_requests_are_as_recorded(name, evaluator_type, unit, options):
    call = await sent(evaluator_type, unit, *options)

    assert_golden(f"judge/{name}.txt", readable(call.body))


async def test_evaluators_of_one_unit_share_the_request_up_to_the_question():
    calls = [await sent(kind, conversation_unit(hotel(3))) for kind in EVALUATORS]

    assert len({json.dumps(call.messages[:2]) for call in calls}) == 1
    assert len({call.messages[2]["content"] for call in calls}) == 3


@pytest.mark.parametrize("evaluator_type", EVALUATORS)
async def test_a_later_turn_appends_to_the_request_of_the_turn_before(evaluator_type):
    earlier, later = [await sent(evaluator_type, turn_unit(hotel(turns))) for turns in (3, 4)]

    assert later.messages[0] == earlier.messages[0]
    assert later.messages[1]["content"].startswith(earlier.messages[1]["content"])
    assert later.body["response_format"] == earlier.body["response_format"]


@pytest.mark.parametrize("evaluator_type", EVALUATORS)
async def test_question_and_frame_are_short(evaluator_type):
    call = await sent(evaluator_type, conversation_unit(hotel(1)))

    overhead = len(call.messages[0]["content"]) + len(call.messages[2]["content"])

    assert overhead / 4 <= 1050


@pytest.mark.parametrize("evaluator_type", EVALUATORS)
async def test_without_reasons_the_question_asks_for_none(evaluator_type):
    options = {
        TaskAdherence: lambda judge: TaskAdherence(judge=judge, include_reason=False),
        RoleAdherence: lambda judge: RoleAdherence(RoleOptions(include_reason=False), judge=judge),
    }
    make = options.get(evaluator_type, _without_reason)
    async with scripted_judge(honest) as (judge, server):
        await make(judge).evaluate(conversation_unit(hotel(1)))

    assert 'summary: leave it empty ("").' in server.calls[0].messages[2]["content"]


def _without_reason(judge: Judge) -> ConversationCompleteness:
    return ConversationCompleteness(CompletenessOptions(include_reason=False), judge=judge)


async def test_non_ascii_text_is_sent_as_it_is():
    call = await sent(ConversationCompleteness, conversation_unit(gentle_assistant()))

    assert "你是一个温柔的助理" in call.messages[1]["content"]
    assert '{"标题": "周报会议"}' in call.messages[1]["content"]
