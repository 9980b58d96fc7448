from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from evaluators.evaluator import Judgement
from evaluators.pipeline.limits import PipelineLimits
from evaluators.verdict import DecisionKind, Outcome
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator, passing, raising, refusing
from tests.support.judging import judging, setup
from tests.support.until import advance_until, until

LIMITS = PipelineLimits()


def unit_of(conversation_id: str):
    return turn_unit(refund_conversation(verified=True, conversation_id=conversation_id))


def poisoned(unit, asked_before):
    if unit.conversation.conversation_id == "poison":
        raise RuntimeError("no answer")
    return passing(unit, asked_before)


def kinds(record):
    return [entry.decision.kind for entry in record.decisions if entry.current]


@pytest.mark.parametrize("immediate", [True, False], ids=["immediate", "waiting"])
async def test_a_poison_unit_is_tried_three_times_and_its_neighbours_are_judged(tmp_path, immediate):
    evaluator = ScriptedEvaluator(poisoned)

    async with judging(tmp_path, setup(evaluator, immediate=immediate)) as found:
        for conversation_id in ("before", "poison", "after"):
            await found.pipeline.submit(unit_of(conversation_id))
        await advance_until(found.clock, lambda: len(found.sink.verdicts) == 3)
        record = await found.explain("poison")

    asked = [unit.conversation.conversation_id for unit in evaluator.asked]
    assert (asked.count("poison"), asked.count("before"), asked.count("after")) == (3, 1, 1)
    assert kinds(record) == [DecisionKind.FAILED]
    assert record.decisions[0].verdict.error_type == "evaluator_raised"
    assert record.waiting == ()
    assert found.metric("adhere_judging_failed_tries_total") == 3


async def test_a_replay_of_a_poison_unit_does_not_try_again(tmp_path):
    evaluator = ScriptedEvaluator(raising)

    async with judging(tmp_path, setup(evaluator, immediate=True)) as found:
        for _ in range(4):
            await found.pipeline.submit(unit_of("poison"))
            await found.pipeline.drain()

    assert len(evaluator.asked) == 3


async def test_a_hung_evaluation_ends_at_its_deadline(tmp_path):
    evaluator = ScriptedEvaluator(hold=True)

    async with judging(tmp_path, setup(evaluator), limits=replace(LIMITS, max_tries=1)) as found:
        await found.pipeline.submit(unit_of("hung"))
        await until(lambda: len(evaluator.asked) == 1)
        await found.clock.advance(LIMITS.deadline_s + 1)
        await found.pipeline.drain()

    assert [verdict.error_type for verdict in found.sink.verdicts] == ["deadline_exceeded"]


async def test_an_evaluation_that_ignores_its_cancellation_gives_its_slot_back(tmp_path):
    class Stubborn(ScriptedEvaluator):
        async def evaluate(self, unit):
            self.asked.append(unit)
            while not self.released:
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    continue
            return passing(unit, 0)

    evaluator = Stubborn()
    evaluator.released = False
    limits = replace(LIMITS, max_tries=1, max_concurrency=1)

    async with judging(tmp_path, setup(evaluator), limits=limits) as found:
        await found.pipeline.submit(unit_of("stubborn"))
        await until(lambda: len(evaluator.asked) == 1)
        await advance_until(found.clock, lambda: len(found.sink.verdicts) == 1, step_s=30)
        evaluator.released = True
        for task in asyncio.all_tasks():
            if "Stubborn" in repr(task):
                task.cancel()
        await found.pipeline.submit(unit_of("next"))
        await found.pipeline.drain()

    assert [verdict.error_type for verdict in found.sink.verdicts] == ["deadline_exceeded", None]


async def test_a_judge_that_is_down_defers_and_later_answers(tmp_path):
    evaluator = ScriptedEvaluator(refusing)

    async with judging(tmp_path, setup(evaluator)) as found:
        await found.pipeline.submit(unit_of("deferred"))
        await found.pipeline.drain()
        during = await found.explain("deferred")
        evaluator.script = passing
        await advance_until(found.clock, lambda: len(found.sink.verdicts) == 1)
        after = await found.explain("deferred")

    assert kinds(during) == [DecisionKind.JUDGE_DOWN]
    assert "connection" in during.decisions[0].decision.reason
    assert len(during.waiting) == 1
    assert kinds(after) == [DecisionKind.JUDGED]
    assert len(after.decisions) == 1


async def test_a_verdict_that_was_put_off_supersedes_the_one_before_all_the_same(tmp_path):
    evaluator = ScriptedEvaluator()

    async with judging(tmp_path, setup(evaluator)) as found:
        await found.pipeline.submit(unit_of("c"))
        await found.pipeline.drain()
        evaluator.script = refusing
        await found.pipeline.submit(
            replace(turn_unit(refund_conversation(verified=False, conversation_id="c")), revision=1)
        )
        await found.pipeline.drain()
        evaluator.script = passing
        await advance_until(found.clock, lambda: len(found.sink.verdicts) == 2)

    before, after = found.sink.verdicts
    assert before.unit_key == after.unit_key
    assert (after.supersedes, after.revision) == (before.id, 1)


@pytest.mark.parametrize("error_type", ["budget_exhausted", "quota_exhausted"])
async def test_money_that_is_spent_is_a_deferral_of_its_own(tmp_path, error_type):
    broke = ScriptedEvaluator(lambda *_: Judgement(outcome=Outcome.ERROR, error_type=error_type, retryable=True))

    async with judging(tmp_path, setup(broke)) as found:
        await found.pipeline.submit(unit_of("deferred"))
        await found.pipeline.drain()
        record = await found.explain("deferred")

    assert kinds(record) == [DecisionKind.DEFERRED_BUDGET]


async def test_an_outage_of_an_hour_costs_few_calls_and_loses_nothing(tmp_path):
    evaluator = ScriptedEvaluator(refusing)
    start_s = 0.0

    async with judging(tmp_path, setup(evaluator), limits=replace(LIMITS, max_concurrency=4)) as found:
        for n in range(40):
            await found.pipeline.submit(unit_of(f"c{n}"))
        await found.pipeline.drain()
        before_pause = len(evaluator.asked)
        while start_s < 3600:
            await found.clock.advance(30)
            await found.pipeline.drain()
            start_s += 30
        during_outage = len(evaluator.asked)
        down = found.metric("adhere_judging_judge_paused", judge="judge-1")
        evaluator.script = passing
        await advance_until(found.clock, lambda: len(found.sink.verdicts) == 40, step_s=30)

    assert before_pause <= 10
    assert during_outage - before_pause <= 25
    assert down == 1
    assert found.metric("adhere_judging_judge_paused", judge="judge-1") == 0


async def test_units_that_come_in_while_a_judge_is_down_say_so_at_once(tmp_path):
    evaluator = ScriptedEvaluator(refusing)

    async with judging(tmp_path, setup(evaluator)) as found:
        for n in range(5):
            await found.pipeline.submit(unit_of(f"c{n}"))
        await found.pipeline.drain()
        asked = len(evaluator.asked)
        await found.pipeline.submit(unit_of("late"))
        await found.pipeline.drain()
        record = await found.explain("late")

    assert len(evaluator.asked) == asked
    assert kinds(record) == [DecisionKind.JUDGE_DOWN]


async def test_one_unit_that_is_always_refused_fails_and_others_go_on(tmp_path):
    def picky(unit, asked_before):
        return (refusing if unit.conversation.conversation_id == "picky" else passing)(unit, asked_before)

    evaluator = ScriptedEvaluator(picky)

    async with judging(tmp_path, setup(evaluator)) as found:
        await found.pipeline.submit(unit_of("picky"))
        for n in range(20):
            await found.pipeline.submit(unit_of(f"other-{n}"))
            await found.pipeline.drain()
            await found.clock.advance(LIMITS.defer_max_s * 1.3)
        await found.pipeline.drain()
        record = await found.explain("picky")

    asked = [unit.conversation.conversation_id for unit in evaluator.asked]
    assert asked.count("picky") == LIMITS.max_own_refusals + 1
    assert len(found.sink.verdicts) == 21
    assert kinds(record) == [DecisionKind.FAILED]


async def test_a_lone_unit_that_is_always_refused_is_given_up_in_the_end(tmp_path):
    evaluator = ScriptedEvaluator(refusing)

    async with judging(tmp_path, setup(evaluator), limits=replace(LIMITS, max_refusals=5)) as found:
        await found.pipeline.submit(unit_of("alone"))
        await advance_until(found.clock, lambda: len(found.sink.verdicts) == 1, step_s=LIMITS.defer_max_s)

    assert len(evaluator.asked) == 6


async def test_the_time_that_a_judge_asks_for_is_honoured(tmp_path):
    def busy(unit, asked_before):
        if asked_before:
            return passing(unit, asked_before)
        return replace(refusing(unit, asked_before), details={"retry_after_s": 900})

    evaluator = ScriptedEvaluator(busy)

    async with judging(tmp_path, setup(evaluator)) as found:
        await found.pipeline.submit(unit_of("busy"))
        await found.pipeline.drain()
        await found.clock.advance(890)
        await found.pipeline.drain()
        asked_early = len(evaluator.asked)
        await advance_until(found.clock, lambda: len(found.sink.verdicts) == 1)

    assert asked_early == 1
    assert len(evaluator.asked) == 2


async def test_work_beyond_the_bound_on_disk_is_given_up_oldest_first(tmp_path):
    evaluator = ScriptedEvaluator(hold=True)
    limits = replace(LIMITS, waiting_bytes=20_000, max_concurrency=1)

    async with judging(tmp_path, setup(evaluator), limits=limits) as found:
        for n in range(40):
            await found.pipeline.submit(unit_of(f"c{n:02}"))
        await until(lambda: found.metric("adhere_judging_decisions_total", reason="backlog_full") > 0)
        await until(lambda: found.metric("adhere_judging_queue_items") == 0)
        early, late = await found.explain("c02"), await found.explain("c39")
        evaluator.release()
        await found.pipeline.drain()

    assert kinds(early) == [DecisionKind.FAILED]
    assert early.decisions[0].decision.reason.startswith("Too much content")
    assert len(late.waiting) == 1
    assert found.metric("adhere_judging_waiting_bytes") <= 20_000


async def test_a_unit_that_cannot_be_processed_takes_no_neighbour_along(tmp_path):
    settled: list[str] = []
    broken = replace(unit_of("broken"), turn_index=9)

    async with judging(tmp_path, setup(ScriptedEvaluator(), immediate=True)) as found:
        for name, unit in (("before", unit_of("before")), ("broken", broken), ("after", unit_of("after"))):
            await found.pipeline.submit(unit, on_settled=lambda name=name: settled.append(name))
        await found.pipeline.drain()

    assert {verdict.conversation_id for verdict in found.sink.verdicts} == {"before", "after"}
    assert sorted(settled) == ["after", "before", "broken"]
    assert found.metric("adhere_judging_decisions_total", reason="unprocessable") == 1
    assert found.metric("adhere_judging_submitted_total") == 3


async def test_waiting_content_that_no_longer_reads_is_given_up(tmp_path):
    evaluator = ScriptedEvaluator(refusing)

    async with judging(tmp_path, setup(evaluator)) as found:
        await found.pipeline.submit(unit_of("garbled"))
        await found.pipeline.drain()
        await found.store.run(lambda connection: connection.execute("UPDATE units SET body = x'00'"))
        await advance_until(found.clock, lambda: found.metric("adhere_judging_decisions_total") == 1)
        record = await found.explain("garbled")

    assert kinds(record) == [DecisionKind.FAILED]
    assert record.waiting == ()


async def test_a_store_that_refuses_writes_holds_up_and_loses_nothing(tmp_path):
    async with judging(tmp_path, setup(ScriptedEvaluator())) as found:
        pages = await found.store.run(lambda connection: connection.execute("PRAGMA max_page_count").fetchone()[0])
        await found.store.run(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchone())
        for n in range(40):
            await found.pipeline.submit(unit_of(f"c{n}"))
        await until(lambda: found.metric("adhere_judging_store_failures_total") > 0)
        await found.store.run(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").fetchone())
        await advance_until(found.clock, lambda: len(found.sink.verdicts) == 40)

    assert {verdict.conversation_id for verdict in found.sink.verdicts} == {f"c{n}" for n in range(40)}
