"""The requests as they are sent. `ADHERE_UPDATE_GOLDEN=1 uv run pytest tests/evaluators/test_judge_requests.py` renews
the golden files; their diff is reviewed like code, since it changes what every judge is asked.
"""
# ruff: noqa: RUF001 - other languages have other punctuation.

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from collector.model import Conversation
from evaluators.conversation_completeness.evaluator import CompletenessOptions, ConversationCompleteness
from evaluators.judge.judge import Judge
from evaluators.role_adherence.evaluator import RoleAdherence, RoleOptions
from evaluators.role_adherence.role import Role
from evaluators.task_adherence.evaluator import TaskAdherence
from evaluators.verdict import Unit
from tests.bench.growing_conversation_bench import growing_conversation
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
from tests.support.states import StatesInMemory

EVALUATORS = (TaskAdherence, RoleAdherence, ConversationCompleteness)
_MOST_OVERHEAD = {TaskAdherence: 930, RoleAdherence: 740, ConversationCompleteness: 700}


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


def long_role_play() -> Conversation:
    builder = ConversationBuilder("role-play", service=None).turn("从现在起你是一个爱开玩笑的老船长，请一直这样说话。")
    builder.answer("哈哈，老船长来了！快上船，别让海鸥抢走你的面包！")
    for n in range(8):
        builder.turn(f"船长，第{n}个岛上有什么？" * 12).answer("有一棵会唱歌的椰子树，可惜它跑调！" * 12)
    return builder.build()


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


async def sent_turn_by_turn(evaluator_type, conversation: Conversation, unit_of, *options) -> list[JudgeCall]:
    """One request a turn, with what was carried from the turns before."""
    async with scripted_judge(honest) as (judge, server):
        evaluator = evaluator_type(*options, judge=judge, states=StatesInMemory())
        for count in range(1, len(conversation.turns) + 1):
            await evaluator.evaluate(unit_of(replace(conversation, turns=conversation.turns[:count])))
    return server.calls


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


@pytest.mark.parametrize(
    ("name", "evaluator_type", "conversation", "unit_of"),
    [
        ("task_step", TaskAdherence, growing_conversation(8), turn_unit),
        ("task_step_of_conversation", TaskAdherence, growing_conversation(8), conversation_unit),
        ("role_step", RoleAdherence, growing_conversation(8), conversation_unit),
        ("role_step_from_user_zh", RoleAdherence, long_role_play(), conversation_unit),
        ("completeness_step", ConversationCompleteness, growing_conversation(8), conversation_unit),
    ],
)
async def test_requests_about_new_turns_are_as_recorded(name, evaluator_type, conversation, unit_of):
    calls = await sent_turn_by_turn(evaluator_type, conversation, unit_of)

    assert_golden(f"judge/{name}.txt", readable(calls[-1].body))


async def test_a_request_that_begins_what_is_carried_is_as_recorded():
    calls = await sent_turn_by_turn(TaskAdherence, growing_conversation(1), turn_unit)

    assert_golden("judge/task_first_step.txt", readable(calls[0].body))


async def test_evaluators_of_one_turn_share_the_request_up_to_their_notes():
    calls = [(await sent_turn_by_turn(kind, growing_conversation(8), turn_unit))[-1] for kind in EVALUATORS]

    assert " cut turns t0 to t6\n" in calls[0].messages[1]["content"]
    assert len({json.dumps(call.messages[:2]) for call in calls}) == 1


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

    assert overhead / 4 <= _MOST_OVERHEAD[evaluator_type]


@pytest.mark.parametrize("evaluator_type", EVALUATORS)
async def test_question_and_frame_about_a_new_turn_are_shorter_still(evaluator_type):
    calls = await sent_turn_by_turn(evaluator_type, growing_conversation(8), turn_unit)
    question = calls[-1].messages[2]["content"].partition(" end\n")[2]

    assert (len(calls[-1].messages[0]["content"]) + len(question)) / 4 <= 740


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
