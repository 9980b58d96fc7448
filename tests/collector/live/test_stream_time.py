"""Stream time: real time while caught up, the records' times while behind, and no leap of the wall clock in it."""

from __future__ import annotations

from collector.live.stream_time import StreamTime
from tests.support.clock import ManualClock

SECOND_NS = 1_000_000_000


async def test_it_runs_with_the_monotonic_clock_while_caught_up():
    clock = ManualClock()
    time = StreamTime(clock)
    start_ns = time.now_ns

    await clock.advance(30)

    assert time.caught_up() - start_ns == 30 * SECOND_NS


async def test_a_wall_clock_that_leaps_forward_changes_nothing():
    clock = ManualClock()
    time = StreamTime(clock)
    start_ns = time.caught_up()

    clock.jump(3600)
    await clock.advance(1)
    time.record(clock.now_ns())

    assert time.caught_up() - start_ns == SECOND_NS


async def test_a_wall_clock_that_leaps_back_neither_stops_nor_turns_it():
    clock = ManualClock()
    time = StreamTime(clock)
    start_ns = time.caught_up()

    clock.jump(-3600)
    await clock.advance(1)
    during_ns = time.record(clock.now_ns())
    await clock.advance(1)

    assert start_ns <= during_ns
    assert time.caught_up() - start_ns == 2 * SECOND_NS


async def test_a_backlog_is_lived_through_at_the_times_it_was_received():
    clock = ManualClock()
    time = StreamTime(clock)
    start_ns, wall_ns = time.caught_up(), clock.now_ns()
    await clock.advance(3600)

    first_ns = time.record(wall_ns + 600 * SECOND_NS)
    second_ns = time.record(wall_ns + 660 * SECOND_NS)

    assert first_ns - start_ns == 600 * SECOND_NS
    assert second_ns - start_ns == 660 * SECOND_NS
    assert time.caught_up() - start_ns == 3600 * SECOND_NS


async def test_it_never_overtakes_real_time():
    clock = ManualClock()
    time = StreamTime(clock)
    start_ns = time.caught_up()
    await clock.advance(5)

    time.record(clock.now_ns() + 7200 * SECOND_NS)

    assert time.now_ns - start_ns == 5 * SECOND_NS


async def test_a_restart_counts_the_time_away():
    clock = ManualClock()
    time = StreamTime(clock)
    time.caught_up()
    stored_ns, wall_ns = time.now_ns, time.wall_ns
    await clock.advance(100)

    again = StreamTime(clock, stored_ns=stored_ns, stored_wall_ns=wall_ns)

    assert again.now_ns == stored_ns
    assert again.caught_up() - stored_ns == 100 * SECOND_NS


async def test_a_wall_clock_set_back_while_away_never_turns_it_back():
    clock = ManualClock()
    time = StreamTime(clock)
    stored_ns, wall_ns = time.caught_up(), time.wall_ns
    clock.jump(-7200)

    again = StreamTime(clock, stored_ns=stored_ns, stored_wall_ns=wall_ns)

    assert again.caught_up() == stored_ns
