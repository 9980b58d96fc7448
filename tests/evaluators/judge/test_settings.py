"""Settings of the request that a judge refuses are reported where somebody set them, and left out where nobody did."""

import pytest

from evaluators.judge.errors import JudgeErrorType
from tests.support.judge_question import GOOD, QUESTION, failure, read
from tests.support.judge_reply import always, answer, error, refusing
from tests.support.judges import scripted_judge

SETTINGS = {"temperature": 0.7, "top_p": 0.9, "reasoning_effort": "low", "seed": 7}


async def test_all_settings_are_sent_as_they_are_set():  # Statement 59.
    async with scripted_judge(always(answer(GOOD)), max_output_tokens=900, **SETTINGS) as (judge, server):
        await judge.ask(QUESTION, read=read)

    assert {name: server.calls[0].body[name] for name in SETTINGS} == SETTINGS
    assert server.calls[0].body["max_tokens"] == 900


@pytest.mark.parametrize("setting", SETTINGS)
async def test_a_value_that_was_set_and_is_refused_is_reported_and_not_left_out(setting):  # Statement 59.
    script = refusing(always(answer(GOOD)), parameter=setting)
    async with scripted_judge(script, **{setting: SETTINGS[setting]}) as (judge, server):
        failed = await failure(judge)

    assert failed.error_type is JudgeErrorType.REJECTED
    assert f"refuses judge.{setting} {SETTINGS[setting]}: set another value, or leave it out." in str(failed)
    assert len(server.calls) == 1


async def test_an_output_limit_that_was_set_and_is_too_large_is_reported():
    refusal = error(400, "max_tokens is too large: 90000. This model supports at most 4096.", param="max_tokens")
    async with scripted_judge(always(refusal), max_output_tokens=90_000) as (judge, server):
        failed = await failure(judge)

    assert "refuses judge.max_output_tokens 90000" in str(failed)
    assert len(server.calls) == 1


async def test_a_reasoning_model_gets_no_temperature_where_nobody_asked_for_one():  # Statement 57.
    script = refusing(refusing(always(answer(GOOD)), parameter="temperature"), parameter="max_tokens")
    async with scripted_judge(script) as (judge, server):
        given = await judge.ask(QUESTION, read=read)

    assert given.value.goal.verdict == "pass"
    assert "temperature" not in server.calls[-1].body
    assert server.calls[-1].body["max_completion_tokens"] == 8192
