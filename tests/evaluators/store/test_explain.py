from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.errors import StoreUnavailableError
from evaluators.store.explain import open_archive
from evaluators.verdict import DecisionKind
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator
from tests.support.judging import judging, setup
from tests.support.until import until


async def test_another_process_can_ask_while_the_store_is_written(tmp_path):
    conversation = refund_conversation(verified=True)
    slow = ScriptedEvaluator(name="slow", hold=True)
    setups = (
        setup(ScriptedEvaluator(name="quick"), immediate=True),
        setup(slow),
        setup(ScriptedEvaluator(name="none"), sample=0),
    )

    async with judging(tmp_path, *setups) as found:
        for index in range(2):
            await found.pipeline.submit(turn_unit(conversation, index))
        await until(lambda: len(slow.asked) == 1 and found.metric("adhere_judging_decisions_total") == 4)
        with open_archive(tmp_path / "verdicts.sqlite") as archive:
            record = archive.explain("refund")

    told = [(entry.turn_index, entry.decision.evaluator, entry.decision.kind) for entry in record.decisions]
    assert told == [
        (0, "none", DecisionKind.SAMPLED_OUT),
        (0, "quick", DecisionKind.JUDGED),
        (1, "none", DecisionKind.SAMPLED_OUT),
        (1, "quick", DecisionKind.JUDGED),
    ]
    assert [(job.turn_index, job.evaluator) for job in record.waiting] == [(0, "slow"), (1, "slow")]


async def test_history_is_told_as_superseded(tmp_path):
    unit = turn_unit(refund_conversation(verified=True))
    later = replace(unit, revision=1, conversation=replace(unit.conversation, system_instructions="New."))

    async with judging(tmp_path, setup(ScriptedEvaluator(), immediate=True)) as found:
        for submitted in (unit, later):
            await found.pipeline.submit(submitted)
            await found.pipeline.drain()
        record = await found.explain("refund")

    before, after = record.decisions
    assert before.decision.kind is DecisionKind.SUPERSEDED
    assert before.decision.reason == "A later revision took its place; it was judged: pass"
    assert before.verdict is not None
    assert after.verdict is not None
    assert after.verdict.supersedes == before.verdict.id


async def test_equal_ids_of_two_services_are_two_conversations(tmp_path):
    conversation = refund_conversation(verified=True)

    async with judging(tmp_path, setup(ScriptedEvaluator(), immediate=True)) as found:
        for service in ("shop", "bank"):
            await found.pipeline.submit(turn_unit(replace(conversation, service=service)))
        await found.pipeline.drain()
        with open_archive(tmp_path / "verdicts.sqlite") as archive:
            both, one = archive.explain("refund"), archive.explain("refund", service="bank")

    assert {entry.service for entry in both.decisions} == {"shop", "bank"}
    assert [entry.service for entry in one.decisions] == ["bank"]


def test_without_a_store_there_is_nothing_to_explain(tmp_path):
    with pytest.raises(StoreUnavailableError), open_archive(tmp_path / "verdicts.sqlite"):
        pass
