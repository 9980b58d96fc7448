"""A model of one's own, or of a plug-in, in the place of an endpoint. Statement 56."""

from __future__ import annotations

import asyncio
import contextlib
from importlib.metadata import EntryPoint
from random import Random

import pytest

from evaluators.errors import EvaluatorConfigError
from evaluators.judge.config import JudgeConfig
from evaluators.judge.errors import JudgeErrorType
from evaluators.judge.own_model import judge_from
from evaluators.judge.plugin import load_plugin
from tests.support.clock import ManualClock
from tests.support.judge_question import GOOD_TEXT, QUESTION, failure, read
from tests.support.ledgers import ledger_in
from tests.support.own_judge import Model
from tests.support.until import until

PLUGINS = [
    EntryPoint(name, f"tests.support.own_judge:{function}", "adhere.judges")
    for name, function in (("good", "make"), ("broken", "broken"), ("text", "no_model"), ("gone", "nothing_there"))
]


@contextlib.asynccontextmanager
async def asking(model, *, clock=None, ledger=None, **settings):
    config = JudgeConfig(model="ignored", **settings)
    judge = judge_from(model, config=config, clock=clock, random=Random(1), ledger=ledger)
    try:
        yield judge
    finally:
        await judge.shutdown()


def raising(error):
    async def answering(messages, **_):
        raise error

    return Model(answering)


async def test_it_gets_the_schema_and_the_bound_of_an_answer():
    async def answering(messages, *, schema, max_tokens):
        assert (schema, max_tokens) == (QUESTION.schema, 700)
        return GOOD_TEXT

    async with asking(Model(answering), max_output_tokens=700) as judge:
        given = await judge.ask(QUESTION, read=read)

    assert (given.value.goal.verdict, given.info.name) == ("pass", "mine")


async def test_its_answers_are_checked_and_repaired_once():
    async def answering(messages, **_):
        return GOOD_TEXT if len(messages) > 3 else "prose"

    async with asking(Model(answering)) as judge:
        given = await judge.ask(QUESTION, read=read)

    assert given.repaired


@pytest.mark.parametrize(
    ("error", "error_type"),
    [
        (TimeoutError(), JudgeErrorType.TIMEOUT),
        (ConnectionResetError(), JudgeErrorType.CONNECTION),
        (ValueError("a secret of the conversation"), JudgeErrorType.SERVER_ERROR),
    ],
    ids=str,
)
async def test_what_it_raises_is_an_error_of_the_judge(error, error_type):
    async with asking(raising(error), max_attempts=1) as judge:
        failed = await failure(judge)

    assert failed.error_type is error_type
    assert failed.may_be_billed
    assert "secret" not in str(failed)


async def test_it_is_cancelled_at_the_deadline():
    clock = ManualClock()
    ended = []

    async def answering(messages, **_):
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append(messages)

    async with asking(Model(answering), clock=clock, deadline_s=60.0) as judge:
        failing = asyncio.create_task(failure(judge))
        await until(lambda: clock.sleeper_count == 1)
        await clock.advance(60)
        failed = await failing

    assert failed.error_type is JudgeErrorType.TIMEOUT
    assert len(ended) == 1


async def test_its_answers_are_kept(tmp_path):
    model = Model()

    async with ledger_in(tmp_path) as ledger, asking(model, ledger=ledger) as judge:
        await judge.ask(QUESTION, read=read)
        await judge.ask(QUESTION, read=read)

    assert len(model.asked) == 1


async def test_a_plugin_is_made_with_its_options():
    async with asking(load_plugin("good", {"name": "house"}, plugins=PLUGINS)) as judge:
        given = await judge.ask(QUESTION, read=read)

    assert given.info.name == "house"


@pytest.mark.parametrize(
    ("name", "options", "named"),
    [
        ("absent", {}, "judge.plugin 'absent' is not installed; installed are: broken, gone, good, text."),
        (
            "broken",
            {},
            "judge.plugin 'broken' (tests.support.own_judge:broken) cannot be made: RuntimeError: no licence.",
        ),
        ("good", {"nmae": "x"}, "unexpected keyword argument 'nmae'"),
        ("gone", {}, "AttributeError"),
        ("text", {}, "AttributeError"),
    ],
)
def test_a_plugin_that_cannot_be_asked_is_named(name, options, named):
    with pytest.raises(EvaluatorConfigError) as raised:
        load_plugin(name, options, plugins=PLUGINS)

    assert named in str(raised.value)
