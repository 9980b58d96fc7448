from __future__ import annotations

from dataclasses import replace

from evaluators.budget import Amount
from evaluators.pipeline.limits import PipelineLimits
from evaluators.store.calls import record
from evaluators.store.opening import open_database
from evaluators.store.retention import Retention, trim, used_bytes
from evaluators.store.spending import reserve
from tests.support.clock import ManualClock
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator
from tests.support.judging import judging, setup
from tests.support.until import advance_until, until
from tests.support.verdict_sink import KeepingSink

DAY_S = 86400.0


def unit_of(number: int):
    return turn_unit(refund_conversation(verified=True, conversation_id=f"c{number}"))


def counts(connection):
    return tuple(
        connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("verdicts", "decisions", "calls")
    )


async def test_what_is_older_than_its_age_goes(tmp_path):
    retention = Retention(max_age_s=30 * DAY_S, calls_max_age_s=7 * DAY_S)
    async with judging(tmp_path, setup(ScriptedEvaluator(), immediate=True), retention=retention) as found:
        await found.pipeline.submit(unit_of(0))
        await found.pipeline.drain()
        await found.store.run(lambda connection: record(connection, "k", b"a", now_ns=found.clock.now_ns()))

        found.clock.jump(8 * DAY_S)
        await found.store.run(lambda connection: trim(connection, retention, now_ns=found.clock.now_ns()))
        after_a_week = await found.store.run(counts)
        found.clock.jump(23 * DAY_S)
        await advance_until(found.clock, lambda: found.metric("adhere_judging_store_trimmed_total") > 0)
        await found.store.run(lambda connection: trim(connection, retention, now_ns=found.clock.now_ns()))
        after_a_month = await found.store.run(counts)

    assert after_a_week == (1, 1, 0)
    assert after_a_month == (0, 0, 0)


async def test_a_verdict_that_was_not_handed_over_never_goes(tmp_path):
    retention = Retention(max_age_s=1, max_bytes=1)
    sink = KeepingSink(refuse_first=1_000_000)
    async with judging(tmp_path, setup(ScriptedEvaluator(), immediate=True), sink=sink, retention=retention) as found:
        await found.pipeline.submit(unit_of(0))
        await until(lambda: found.metric("adhere_judging_verdicts_total") == 1)

        for _ in range(3):
            await found.store.run(lambda connection: trim(connection, retention, now_ns=2 * found.clock.now_ns()))
        kept = await found.store.run(counts)

    assert kept == (1, 1, 0)


async def test_above_the_bound_in_bytes_the_oldest_go(tmp_path):
    bound = Retention(max_bytes=250_000)
    limits = replace(PipelineLimits(), queue_items=50)
    async with judging(tmp_path, setup(ScriptedEvaluator(), immediate=True), limits=limits) as found:
        for number in range(300):
            await found.pipeline.submit(unit_of(number))
        await found.pipeline.drain()
        before = await found.store.run(used_bytes)
        while await found.store.run(lambda connection: trim(connection, bound, now_ns=found.clock.now_ns())):
            pass
        after = await found.store.run(used_bytes)
        oldest, newest = await found.explain("c0"), await found.explain("c299")

    assert before > 250_000 >= after
    assert oldest.decisions == ()
    assert len(newest.decisions) in (0, 1)


async def test_kept_answers_have_a_bound_of_their_own_and_the_oldest_go_first(tmp_path):
    retention = Retention(calls_max_bytes=250_000)
    connection = open_database(tmp_path / "verdicts.sqlite", clock=ManualClock())
    connection.execute("BEGIN")
    for n in range(1000):
        record(connection, f"k{n}", b"x" * 400, now_ns=n)
    connection.execute("COMMIT")

    trim(connection, retention, now_ns=1000)
    kept = [row[0] for row in connection.execute("SELECT key FROM calls ORDER BY answered_ns")]
    connection.close()

    assert kept == [f"k{n}" for n in range(500, 1000)]


async def test_what_was_spent_is_kept_for_as_long_as_a_budget_looks_back(tmp_path):
    async with judging(tmp_path) as found:
        now_ns = found.clock.now_ns()
        for days in (100, 40, 1):
            await found.store.run(
                lambda connection, days=days: reserve(
                    connection, Amount(1, 1), (), now_ns=now_ns - int(days * DAY_S * 1e9)
                )
            )
        await found.store.run(lambda connection: trim(connection, Retention(), now_ns=now_ns))
        days = await found.store.run(
            lambda connection: connection.execute("SELECT count(*) FROM spending WHERE length(period) = 10").fetchone()
        )

    assert days == (2,)
