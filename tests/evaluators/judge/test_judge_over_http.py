"""Every way in which a provider can fail, over real HTTP."""

import asyncio
import json
from random import Random

import pytest
from prometheus_client import CollectorRegistry
from pydantic import SecretStr
from structlog.testing import capture_logs

from evaluators.judge.errors import JudgeError, JudgeErrorType, UnusableAnswerError
from evaluators.judge.metrics import JudgeMetrics
from evaluators.judge.prices import Price
from tests.support.clock import ManualClock
from tests.support.judge_question import GOOD, QUESTION, failure, read
from tests.support.judge_reply import (
    Reply,
    always,
    answer,
    disconnect,
    error,
    hang,
    in_order,
    rate_limited,
    refusing,
)
from tests.support.judge_server import JudgeServer
from tests.support.judges import judge_at, scripted_judge
from tests.support.malformed_answers import malformed_answers
from tests.support.until import until


async def test_a_good_answer_comes_back_with_what_it_took():
    price = {"scripted-judge": Price(input=1.0, output=10.0, cached_input=0.1)}
    async with scripted_judge(always(answer(GOOD, cached_tokens=5)), prices=price) as (judge, server):
        given = await judge.ask(QUESTION, read=read)

    info = given.info
    assert (given.value.summary, given.repaired) == ("Gut. 好。", False)
    assert (info.name, info.calls, info.cached_input_tokens) == ("scripted-judge", 1, 5)
    assert info.input_tokens == server.calls[0].prompt_tokens
    assert info.cost_usd == pytest.approx((info.input_tokens - 5 + 0.5 + 10 * info.output_tokens) / 1e6)


async def test_requests_are_marked_keyed_and_not_compressed():
    key = SecretStr("sk-canary")
    async with scripted_judge(always(answer(GOOD)), api_key=key, headers={"x-gateway": "7"}) as (judge, server):
        await judge.ask(QUESTION, read=read)

    headers = server.calls[0].headers
    assert server.calls[0].path == "/v1/chat/completions"
    assert headers["user-agent"] == "adhere"
    assert headers["adhere-judge"] == "1"
    assert headers["authorization"] == "Bearer sk-canary"
    assert headers["x-gateway"] == "7"
    assert headers["accept-encoding"] == "identity"


async def test_the_environments_key_is_not_sent_to_another_server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    async with scripted_judge(always(answer(GOOD))) as (judge, server):
        await judge.ask(QUESTION, read=read)

    assert "sk-canary" not in json.dumps(dict(server.calls[0].headers))


async def test_an_unknown_price_is_none_and_missing_usage_is_counted_by_us():
    async with scripted_judge(always(answer(GOOD, usage=False))) as (judge, _):
        given = await judge.ask(QUESTION, read=read)

    assert given.info.cost_usd is None
    assert given.info.input_tokens > 10
    assert given.info.output_tokens > 10


@pytest.mark.parametrize("count", [10**12, 10**400, -1, 1.5, True, "7"])
async def test_a_senseless_count_of_tokens_is_counted_by_us(count):
    usage = {"prompt_tokens": count, "completion_tokens": 3}
    body = {"choices": [{"message": {"content": json.dumps(GOOD)}, "finish_reason": "stop"}], "usage": usage}
    async with scripted_judge(always(Reply(body=json.dumps(body).encode()))) as (judge, _):
        given = await judge.ask(QUESTION, read=read)

    assert 10 < given.info.input_tokens < 10_000


async def test_three_rate_limits_then_an_answer_succeed():  # Statement 66.
    script = in_order([rate_limited(retry_after_s=0)] * 3, then=always(answer(GOOD)))
    async with scripted_judge(script) as (judge, server):
        given = await judge.ask(QUESTION, read=read)

    assert given.value.goal.verdict == "pass"
    assert given.info.calls == len(server.calls) == 4


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(error(500, headers={"retry-after": "0"}), id="500"),
        pytest.param(error(503, headers={"retry-after-ms": "1"}), id="503"),
        pytest.param(error(529, headers={"retry-after": "0"}), id="529"),
        pytest.param(error(408, headers={"retry-after": "0"}), id="408"),
        pytest.param(rate_limited(retry_after_s=0), id="429"),
        pytest.param(disconnect(), id="disconnect"),
        pytest.param(Reply(body=b"<html>Bad gateway</html>", headers={"content-type": "text/html"}), id="html"),
        pytest.param(Reply(body=b"{}"), id="no completion"),
        pytest.param(Reply(body=b'{"error": {"message": "m", "code": 502}}'), id="an error with 200"),
        pytest.param(
            Reply(body=b'{"choices": [{"message": {"content": ""}, "finish_reason": "error"}]}'), id="broken off"
        ),
        pytest.param(Reply(body=b"[" * 100_000), id="deep garbage"),
    ],
)
async def test_passing_trouble_is_retried(trouble):  # Statement 65.
    async with scripted_judge(in_order([trouble], then=always(answer(GOOD)))) as (judge, server):
        given = await judge.ask(QUESTION, read=read)

    assert given.value.goal.verdict == "pass"
    assert len(server.calls) == 2


@pytest.mark.parametrize(
    ("reply", "error_type", "retryable"),
    [
        pytest.param(error(401, code="invalid_api_key"), JudgeErrorType.UNAUTHORIZED, True, id="401"),
        pytest.param(error(403), JudgeErrorType.UNAUTHORIZED, True, id="403"),
        pytest.param(error(404, code="model_not_found"), JudgeErrorType.REJECTED, False, id="404"),
        pytest.param(error(429, code="insufficient_quota"), JudgeErrorType.QUOTA_EXHAUSTED, True, id="quota"),
        pytest.param(error(400, code="context_length_exceeded"), JudgeErrorType.TOO_LONG, False, id="too long"),
        pytest.param(
            error(400, "This model's maximum context length is 10 tokens, max_tokens is 9."),
            JudgeErrorType.TOO_LONG,
            False,
            id="too long in words",
        ),
        pytest.param(error(413), JudgeErrorType.TOO_LONG, False, id="413"),
        pytest.param(error(400, code="content_filter"), JudgeErrorType.REFUSED, False, id="content filter"),
        pytest.param(Reply(finish_reason="content_filter"), JudgeErrorType.REFUSED, False, id="filtered answer"),
        pytest.param(Reply(finish_reason="SAFETY"), JudgeErrorType.REFUSED, False, id="filtered by another name"),
        pytest.param(answer("No.", refusal="I can't."), JudgeErrorType.REFUSED, False, id="refusal with words"),
        pytest.param(
            Reply(body=b'{"error": {"code": "invalid_api_key"}}'), JudgeErrorType.UNAUTHORIZED, True, id="key with 200"
        ),
        pytest.param(Reply(refusal="I can't."), JudgeErrorType.REFUSED, False, id="refusal"),
    ],
)
async def test_what_will_not_change_is_not_retried(reply, error_type, retryable):  # Statement 65.
    async with scripted_judge(always(reply)) as (judge, server):
        failed = await failure(judge)

    assert (failed.error_type, failed.error_type.retryable) == (error_type, retryable)
    assert len(server.calls) == 1
    assert failed.info is not None
    assert failed.info.calls == 1


async def test_a_redirect_is_not_followed():
    reply = Reply(status=302, headers={"location": "http://127.0.0.1:9/elsewhere", "retry-after": "0"})
    async with scripted_judge(always(reply), max_attempts=2) as (judge, server):
        failed = await failure(judge)

    assert failed.error_type is JudgeErrorType.SERVER_ERROR
    assert str(failed).endswith(
        "answered 302: no redirect is followed, so set judge.base_url to the address that it leads to."
    )
    assert {call.path for call in server.calls} == {"/v1/chat/completions"}


async def test_a_server_that_is_not_there_is_a_connection_error():
    async with scripted_judge(always(answer(GOOD)), base_url="http://127.0.0.1:1/v1", max_attempts=1) as (judge, _):
        failed = await failure(judge)

    assert failed.error_type is JudgeErrorType.CONNECTION
    where = "The judge 'scripted-judge' at http://127.0.0.1:1/v1"
    assert str(failed) == f"{where} cannot be reached, or hung up (Connection refused)."


async def test_a_response_without_end_is_cut_off():
    giant = Reply(body=b" " * 50_000)
    async with scripted_judge(always(giant), max_attempts=1, max_response_bytes=10_000) as (judge, _):
        failed = await failure(judge)

    assert failed.error_type is JudgeErrorType.CONNECTION


async def test_what_a_provider_says_is_not_repeated():
    reply = error(401, "Incorrect key sk-canary for prompt 'my secret conversation'", code="invalid_api_key")
    async with scripted_judge(always(reply)) as (judge, _):
        failed = await failure(judge)

    assert "canary" not in str(failed)
    assert "secret conversation" not in str(failed)
    assert "401 (invalid_api_key)" in str(failed)


async def test_a_hung_judge_ends_at_the_deadline():  # Statement 65.
    clock = ManualClock()
    async with scripted_judge(always(hang()), clock=clock, deadline_s=60.0) as (judge, server):
        async with asyncio.TaskGroup() as tasks:
            asked = tasks.create_task(failure(judge))
            await until(lambda: len(server.calls) == 1)
            await clock.advance(59.9)
            still_waiting = not asked.done()
            await clock.advance(0.2)
        failed = asked.result()

    assert still_waiting
    assert failed.error_type is JudgeErrorType.TIMEOUT
    assert failed.info is not None
    assert failed.info.duration_s == pytest.approx(60.1)


async def test_a_wait_past_the_deadline_is_not_begun():
    async with scripted_judge(always(rate_limited(retry_after_s=3600)), deadline_s=60.0) as (judge, server):
        failed = await failure(judge)

    assert failed.error_type is JudgeErrorType.RATE_LIMITED
    assert failed.retry_after_s == 3600
    assert len(server.calls) == 1


async def test_attempts_have_a_number():
    async with scripted_judge(always(error(500, headers={"retry-after": "0"})), max_attempts=3) as (judge, server):
        failed = await failure(judge)

    assert failed.error_type is JudgeErrorType.SERVER_ERROR
    assert len(server.calls) == 3


async def test_a_malformed_answer_is_repaired_once():
    async with scripted_judge(in_order([answer("Looks fine to me!"), answer(GOOD)])) as (judge, server):
        given = await judge.ask(QUESTION, read=read)

    assert given.repaired
    assert given.info.calls == 2
    assert server.calls[1].messages[:3] == server.calls[0].messages
    assert server.calls[1].messages[3] == {"role": "assistant", "content": "Looks fine to me!"}
    assert "It was not a JSON object." in server.calls[1].messages[4]["content"]


async def test_an_answer_that_was_cut_off_is_asked_again_with_more_room():
    cut = answer(json.dumps(GOOD)[:50], finish_reason="length")
    async with scripted_judge(in_order([cut, answer(GOOD)]), max_output_tokens=100) as (judge, server):
        given = await judge.ask(QUESTION, read=read)

    assert given.repaired
    assert [call.body["max_tokens"] for call in server.calls] == [100, 200]


@pytest.mark.parametrize(
    ("reply", "error_type"),
    [
        pytest.param(answer("prose"), JudgeErrorType.MALFORMED, id="prose"),
        pytest.param(answer(""), JudgeErrorType.MALFORMED, id="empty"),
        pytest.param(Reply(content=None), JudgeErrorType.MALFORMED, id="null"),
        pytest.param(answer(GOOD, finish_reason="length"), JudgeErrorType.TRUNCATED, id="whole but cut off"),
        pytest.param(answer(GOOD, finish_reason="MAX_TOKENS"), JudgeErrorType.TRUNCATED, id="by another name"),
    ],
)
async def test_a_second_unusable_answer_is_an_error(reply, error_type):  # Statement 67.
    async with scripted_judge(always(reply)) as (judge, server):
        failed = await failure(judge)

    assert failed.error_type is error_type
    assert failed.answer == (reply.content or "")
    assert not failed.error_type.retryable
    assert len(server.calls) == 2


async def test_two_hundred_malformed_answers_give_no_value_and_no_other_exception():  # Statement 67.
    bad = list(malformed_answers(json.dumps(GOOD), count=200, random=Random(3)))
    script = in_order([answer(content) for content in bad])
    async with scripted_judge(script) as (judge, server):
        failed = [await failure(judge) for _ in range(100)]

    assert len(server.calls) == 200
    assert {error.error_type for error in failed} == {JudgeErrorType.MALFORMED}


@pytest.mark.parametrize(
    ("refused", "sent", "requests"),
    [
        (("response_format.json_schema",), {"response_format": {"type": "json_object"}}, 2),
        (("response_format",), {"response_format": None}, 3),
        (("temperature",), {"temperature": None}, 2),
        (("max_tokens",), {"max_tokens": None, "max_completion_tokens": 8192}, 2),
        (("max_tokens", "max_completion_tokens"), {"max_tokens": None, "max_completion_tokens": None}, 3),
        (("temperature", "response_format", "max_tokens"), {"temperature": None, "response_format": None}, 5),
    ],
    ids=str,
)
async def test_what_an_endpoint_refuses_is_dropped_and_remembered(refused, sent, requests):
    script = always(answer(GOOD))
    for parameter in refused:
        script = refusing(script, parameter=parameter)
    async with scripted_judge(script) as (judge, server):
        await judge.ask(QUESTION, read=read)
        probing = len(server.calls)
        await judge.ask(QUESTION, read=read)

    assert probing == requests
    assert len(server.calls) == requests + 1
    assert {key: server.calls[-1].body.get(key) for key in sent} == sent


async def test_a_template_that_wants_alternating_roles_gets_one_message():
    def script(call):
        alternating = len(call.messages) == 1
        return answer(GOOD) if alternating else error(400, "Conversation roles must alternate user/assistant.")

    async with scripted_judge(script) as (judge, server):
        await judge.ask(QUESTION, read=read)

    assert [message["role"] for message in server.calls[-1].messages] == ["user"]
    assert server.calls[-1].text == f"{QUESTION.frame}\n\n{QUESTION.record}{QUESTION.text}"
    assert server.calls[-1].body["response_format"]["type"] == "json_schema"


async def test_a_refusal_that_nothing_helps_against_ends():
    async with scripted_judge(always(error(400, "No."))) as (judge, server):
        failed = await failure(judge)

    assert failed.error_type is JudgeErrorType.REJECTED
    assert len(server.calls) == 3


async def test_concurrency_is_bounded():
    script = always(answer(GOOD, latency_s=0.02))
    async with scripted_judge(script, max_concurrency=3) as (judge, server), asyncio.TaskGroup() as tasks:
        for _ in range(12):
            tasks.create_task(judge.ask(QUESTION, read=read))

    assert len(server.calls) == 12
    assert server.in_flight_peak == 3


async def test_a_storm_of_rate_limits_is_ridden_out_with_fewer_questions_at_once():  # Statement 65.
    """A provider that takes four requests at a time and refuses all others."""
    refused = 0

    def busy(call):
        nonlocal refused
        if server.in_flight > 4:
            refused += 1
            return rate_limited(retry_after_s=0)
        return answer(GOOD, latency_s=0.005)

    metrics = JudgeMetrics(CollectorRegistry())
    with JudgeServer(busy) as server:
        async with judge_at(server, max_concurrency=32, max_attempts=50, metrics=metrics) as judge:
            given = await asyncio.gather(*(judge.ask(QUESTION, read=read) for _ in range(120)))

    assert len(given) == 120
    assert refused > 0
    assert metrics.limit.collect()[0].samples[0].value < 32


async def test_the_circuit_opens_defers_and_closes_after_one_good_probe():
    clock = ManualClock()
    script = in_order([error(500)] * 4, then=always(answer(GOOD)))
    settings = {"breaker_failures": 4, "breaker_cooldown_s": 30.0, "max_attempts": 1, "max_concurrency": 2}
    async with scripted_judge(script, clock=clock, **settings) as (judge, server):
        first = [(await failure(judge)).error_type for _ in range(4)]
        down = [await failure(judge) for _ in range(50)]
        sent_while_open = len(server.calls)
        await clock.advance(30)
        await judge.ask(QUESTION, read=read)
        await judge.ask(QUESTION, read=read)

    assert set(first) == {JudgeErrorType.SERVER_ERROR}
    assert {error.error_type for error in down} == {JudgeErrorType.JUDGE_DOWN}
    assert all(error.error_type.retryable and error.retry_after_s == 30 for error in down)
    assert sent_while_open == 4
    assert len(server.calls) == 6


async def test_a_refusal_that_needs_someone_is_logged_once_until_an_answer():
    script = in_order([error(401), error(401), answer(GOOD), error(401), error(500)])
    async with scripted_judge(script, max_attempts=1) as (judge, _):
        with capture_logs() as logs:
            await failure(judge)
            await failure(judge)
            await judge.ask(QUESTION, read=read)
            await failure(judge)
            await failure(judge)

    refused = [(line["log_level"], line["error_type"]) for line in logs if line["event"] == "judge refuses"]
    assert refused == [("warning", "unauthorized")] * 2


async def test_a_judge_that_is_down_is_logged_with_what_it_did_and_without_its_words():
    script = always(Reply(body=b"<html>Welcome, canary</html>"))
    async with scripted_judge(script, breaker_failures=2, max_attempts=1) as (judge, _):
        with capture_logs() as logs:
            await failure(judge)
            await failure(judge)

    (down,) = [line for line in logs if line["event"] == "judge is down"]
    assert down["reason"].endswith("something that is no chat completion: check that base_url ends in /v1.")
    assert "canary" not in str(down)


async def test_only_one_probe_is_sent_while_half_open():
    clock = ManualClock()
    script = in_order([error(500)] * 2, then=always(hang()))
    settings = {"breaker_failures": 2, "max_attempts": 1}
    async with scripted_judge(script, clock=clock, **settings) as (judge, server):
        for _ in range(2):
            await failure(judge)
        await clock.advance(30)
        async with asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(failure(judge)) for _ in range(6)]
            await until(lambda: sum(task.done() for task in asked) == 5 and len(server.calls) == 3)
            await clock.advance(20)
        held = await failure(judge)

    types = sorted(task.result().error_type.value for task in asked)
    assert types == ["judge_down"] * 5 + ["timeout"]
    assert (held.error_type, len(server.calls)) == (JudgeErrorType.JUDGE_DOWN, 3)


async def test_rate_limits_do_not_open_the_circuit():
    async with scripted_judge(always(rate_limited()), breaker_failures=2, max_attempts=1) as (judge, server):
        for _ in range(5):
            failed = await failure(judge)

    assert failed.error_type is JudgeErrorType.RATE_LIMITED
    assert len(server.calls) == 5


async def test_each_question_ends_in_exactly_one_outcome():
    registry = CollectorRegistry()
    replies = [answer(GOOD), answer("prose"), answer(GOOD), answer("prose"), answer("prose"), error(404)]
    async with scripted_judge(in_order(replies), metrics=JudgeMetrics(registry)) as (judge, _):
        await judge.ask(QUESTION, read=read)
        await judge.ask(QUESTION, read=read)
        await failure(judge)
        await failure(judge)

    def count(outcome):
        labels = {"evaluator": "task_adherence", "outcome": outcome}
        return registry.get_sample_value("adhere_judge_questions_total", labels)

    assert [count(outcome) for outcome in ("answered", "repaired", "malformed", "rejected")] == [1, 1, 1, 1]
    assert registry.get_sample_value("adhere_judge_in_flight") == 0
    assert registry.get_sample_value("adhere_judge_call_tokens_total", {"kind": "input"}) > 0


async def test_a_judge_that_was_shut_down_asks_nothing_and_shuts_down_twice():
    async with scripted_judge(always(answer(GOOD))) as (judge, server):
        await judge.shutdown()
        failed = await failure(judge)
        await judge.shutdown()

    assert failed.error_type is JudgeErrorType.JUDGE_DOWN
    assert server.calls == []


async def test_a_reader_may_refuse_with_its_own_reason():
    def refuse(_: str):
        raise UnusableAnswerError("The quote is not there.", error_type=JudgeErrorType.EVIDENCE)

    async with scripted_judge(always(answer(GOOD))) as (judge, server):
        with pytest.raises(JudgeError) as raised:
            await judge.ask(QUESTION, read=refuse)

    assert raised.value.error_type is JudgeErrorType.EVIDENCE
    assert "The quote is not there." in server.calls[1].messages[-1]["content"]
