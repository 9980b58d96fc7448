"""Completions as servers and gateways send them that do things their own way, over real HTTP."""

import gzip
import json

import pytest

from evaluators.judge.errors import JudgeErrorType
from evaluators.judge.memory_ledger import MemoryLedger
from evaluators.task_adherence.evaluator import TaskAdherence
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.judge_call import JudgeCall
from tests.support.judge_question import GOOD, QUESTION, failure, read
from tests.support.judge_reply import Reply, always, answer
from tests.support.judges import scripted_judge


def completion_of(message: object, **choice: object) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop", **choice}]}).encode()


@pytest.mark.parametrize("encoding", ["gzip", "X-GZIP", " ", "identity"])
async def test_an_answer_that_a_proxy_compressed_is_read(encoding):
    body = completion_of({"content": json.dumps(GOOD)})
    packed = gzip.compress(body) if encoding.strip().lower().endswith("gzip") else body
    async with scripted_judge(always(Reply(body=packed, headers={"content-encoding": encoding}))) as (judge, _):
        given = await judge.ask(QUESTION, read=read)

    assert given.value.summary == "Gut. 好。"


@pytest.mark.parametrize(
    ("body", "encoding", "problem"),
    [
        pytest.param(gzip.compress(b" " * 3_000_000), "gzip", "sent more than 10000 bytes.", id="bomb"),
        pytest.param(gzip.compress(b"{}")[:-9], "gzip", "hung up in the middle of its answer.", id="cut"),
        pytest.param(b"{}", "gzip", "sent what says that it is compressed and is not.", id="not compressed"),
        pytest.param(b"{}", "br", "turn that off there.", id="another form"),
    ],
)
async def test_a_compressed_answer_is_unfolded_up_to_the_bound(body, encoding, problem):
    reply = Reply(body=body, headers={"content-encoding": encoding})
    async with scripted_judge(always(reply), max_attempts=1, max_response_bytes=10_000) as (judge, _):
        failed = await failure(judge)

    assert failed.error_type is JudgeErrorType.CONNECTION
    assert str(failed).startswith("The judge 'scripted-judge' at http://127.0.0.1:")
    assert str(failed).endswith(problem)


PARTS = [
    {"type": "reasoning", "text": "Hm."},
    {"type": "text", "text": None},
    {"type": "text", "text": json.dumps(GOOD)},
]
CALL = {"type": "function", "function": {"name": "task_adherence", "arguments": json.dumps(GOOD)}}


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"content": None, "tool_calls": [CALL]}, id="as a call"),
        pytest.param({"content": "", "reasoning_content": json.dumps(GOOD)}, id="as reasoning"),
        pytest.param({"content": None, "reasoning": json.dumps(GOOD)}, id="as reasoning by another name"),
        pytest.param({"content": PARTS}, id="in parts, with reasoning"),
        pytest.param({"content": [json.dumps(GOOD)]}, id="in a list of texts"),
        pytest.param({"content": GOOD}, id="as an object"),
    ],
)
async def test_an_answer_is_found_wherever_a_server_puts_it(message):
    async with scripted_judge(always(Reply(body=completion_of(message)))) as (judge, server):
        given = await judge.ask(QUESTION, read=read)

    assert (given.value.summary, len(server.calls)) == ("Gut. 好。", 1)


async def test_a_verdict_names_the_model_that_answered_in_place_of_the_one_asked_for():
    def script(call: JudgeCall) -> Reply:
        body = json.loads(completion_of({"content": json.dumps(GOOD)}))
        return Reply(body=json.dumps(body | {"model": "scripted-judge-2026-08-07\n"}).encode())

    unit = turn_unit(refund_conversation(verified=True))
    async with scripted_judge(script, ledger=MemoryLedger()) as (judge, server):
        verdicts = [await TaskAdherence(judge=judge).evaluate(unit) for _ in range(2)]
    async with scripted_judge(always(answer(GOOD))) as (judge, _):
        plain = await TaskAdherence(judge=judge).evaluate(unit)

    assert [verdict.details["answered_by"] for verdict in verdicts] == ["scripted-judge-2026-08-07"] * 2
    assert [verdict.judge.name for verdict in verdicts] == ["scripted-judge"] * 2
    assert len(server.calls) == 1
    assert "answered_by" not in plain.details


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        pytest.param({"content": "Fine!", "reasoning_content": json.dumps(GOOD)}, "Fine!", id="beside an answer"),
        pytest.param({"content": "", "reasoning_content": "It passes."}, "", id="real reasoning"),
        pytest.param({"content": "", "tool_calls": [CALL, CALL]}, "", id="two calls"),
        pytest.param({"content": "", "tool_calls": [{"function": "f"}]}, "", id="a call of no form"),
    ],
)
async def test_nothing_else_is_taken_for_the_answer(message, kept):
    async with scripted_judge(always(Reply(body=completion_of(message)))) as (judge, _):
        failed = await failure(judge)

    assert (failed.error_type, failed.answer) == (JudgeErrorType.MALFORMED, kept)


async def test_a_sign_that_is_no_utf8_spoils_no_answer():
    body = completion_of({"content": json.dumps(GOOD)}).replace(b"In order", b"In \xff order")
    async with scripted_judge(always(Reply(body=body))) as (judge, _):
        given = await judge.ask(QUESTION, read=read)

    assert given.value.goal.reasoning == "In \ufffd order."
