"""What the relay does with its cursor, its window and its outcomes, with a sender that needs no network."""

import asyncio
from functools import partial

import pytest

from collector.errors import MalformedRequestError, PermanentError, RetryableError, UnauthenticatedError
from collector.journal.protocol import Position
from collector.relay.dead_letters import DeadLetters
from collector.relay.relay import Window
from collector.relay.retry import RetryPolicy
from collector.telemetry.records import Signal
from tests.support.clock import ManualClock
from tests.support.journal import MemoryJournal
from tests.support.running_relay import RunningRelay
from tests.support.scripted_sender import ScriptedSender
from tests.support.until import advance_until, until


class Flow:
    def __init__(self, *bodies, **options):
        self.journal = MemoryJournal()
        self.sender = ScriptedSender()
        self.clock = ManualClock(now_ns=self.journal.now_ns)
        self.reader = self.journal.reader("relay")
        self.options = {"policy": RetryPolicy(jitter=0.0), **options}
        for body in bodies:
            self.journal.add(Signal.TRACES, body)

    def running(self):
        return RunningRelay("d", reader=self.reader, sender=self.sender, clock=self.clock, **self.options)

    def committed(self):
        return self.journal.committed("relay").offset

    def hold(self, body):
        self.sender.held[body] = asyncio.Event()
        return self.sender.held[body]


BODIES = [f"body {n}".encode() for n in range(30)]


async def test_everything_is_sent_once_in_order_and_committed_at_the_end():
    flow = Flow(*BODIES)

    async with flow.running() as relay:
        await until(lambda: len(flow.sender.sent) == 30)

    assert flow.sender.sent == BODIES
    assert flow.committed() == 30
    assert relay.count("relayed_requests_total", signal="traces") == 30
    assert relay.count("relayed_bytes_total") == sum(map(len, BODIES))
    assert (flow.reader.closed, flow.sender.closed) == (True, True)


async def test_new_records_are_followed():
    flow = Flow()
    async with flow.running():
        for body in BODIES[:3]:
            flow.journal.add(Signal.LOGS, body)
            await until(lambda body=body: body in flow.sender.sent)


async def test_only_what_lies_before_the_oldest_open_request_is_committed():
    flow = Flow(*BODIES[:4])
    first, third = flow.hold(BODIES[0]), flow.hold(BODIES[2])
    async with flow.running():
        await until(lambda: len(flow.sender.sent) == 2)
        await flow.clock.advance(1.0)
        assert flow.committed() == 0

        first.set()
        await until(lambda: BODIES[0] in flow.sender.sent)
        await advance_until(flow.clock, lambda: flow.committed() == 2)

        third.set()
        await until(lambda: BODIES[2] in flow.sender.sent)
        await advance_until(flow.clock, lambda: flow.committed() == 4)


@pytest.mark.parametrize(
    ("window", "expected"),
    [(Window(max_requests=3), 3), (Window(max_requests=100, max_bytes=10), 2), (Window(max_requests=1), 1)],
    ids=["requests", "bytes", "strict_order"],
)
async def test_the_window_bounds_what_is_under_way(window, expected):
    flow = Flow(*BODIES[:9], window=window)
    held = [flow.hold(body) for body in BODIES[:9]]
    async with flow.running() as relay:
        await until(lambda: len(flow.sender.tried) == expected)
        await flow.clock.advance(0.1)
        assert len(flow.sender.tried) == expected
        assert relay.count("in_flight_requests") == expected
        assert relay.count("in_flight_bytes") == sum(map(len, BODIES[:expected]))

        for event in held:
            event.set()
        await until(lambda: len(flow.sender.sent) == 9)

    assert flow.sender.tried == BODIES[:9]


async def test_a_request_larger_than_the_window_still_passes():
    flow = Flow(b"x" * 100, b"y", window=Window(max_bytes=10))
    async with flow.running():
        await until(lambda: len(flow.sender.sent) == 2)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermanentError("No."), "refused"),
        (MalformedRequestError("No."), "malformed"),
        (UnauthenticatedError("No."), "unauthenticated"),
        (ZeroDivisionError("a mistake of ours"), "internal_error"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_refusal_is_counted_put_aside_and_holds_nobody_up(tmp_path, error, reason):
    flow = Flow(*BODIES[:5], dead_letters=DeadLetters(tmp_path))
    flow.sender.decide = lambda body: error if body == BODIES[1] else None

    async with flow.running() as relay:
        await until(lambda: len(flow.sender.sent) == 4)

    (letter,) = tmp_path.iterdir()
    assert letter.read_bytes() == BODIES[1]
    assert reason in letter.name
    assert flow.sender.sent == [*BODIES[:1], *BODIES[2:5]]
    assert flow.committed() == 5
    assert relay.count("dropped_requests_total", reason=reason) == 1
    assert relay.count("dropped_requests_total") + relay.count("relayed_requests_total") == 5


async def test_a_folder_of_dead_letters_that_cannot_be_written_does_not_stop_the_relay(tmp_path):
    (tmp_path / "file").write_text("in the way")
    flow = Flow(*BODIES[:2], dead_letters=DeadLetters(tmp_path / "file"))
    flow.sender.script.append(PermanentError("No."))

    async with flow.running() as relay:
        await until(lambda: flow.sender.sent == [BODIES[1]])

    assert relay.count("dead_letters_lost_total") == 1
    assert flow.committed() == 2


async def test_signals_that_are_not_meant_for_it_are_passed_over():
    flow = Flow(signals=frozenset({Signal.LOGS}))
    flow.journal.add(Signal.TRACES, b"t")
    flow.journal.add(Signal.LOGS, b"l")
    flow.journal.add(Signal.METRICS, b"m")

    async with flow.running() as relay:
        await until(lambda: flow.sender.sent == [b"l"])
        await until(lambda: relay.count("not_selected_requests_total") == 2)

    assert flow.committed() == 3


async def test_while_it_fails_only_the_oldest_tries_and_then_all_go_on():
    flow = Flow(*BODIES[:6])
    flow.sender.decide = lambda _: RetryableError("Away.")
    async with flow.running() as relay:
        await until(lambda: relay.count("in_flight_requests") == 6 and relay.count("retries_total") == 1)
        for pause_s in (1, 2, 4):
            await flow.clock.advance(pause_s + 0.01)
        assert flow.sender.tried == [BODIES[0]] * 4

        flow.sender.decide = lambda _: None
        await advance_until(flow.clock, lambda: len(flow.sender.sent) == 6, step_s=8.01)

    assert flow.sender.sent == BODIES[:6]
    assert relay.count("relayed_requests_total") == 6


async def test_retry_after_is_waited_for_and_not_much_longer():
    flow = Flow(BODIES[0])
    flow.sender.script.append(RetryableError("Later.", retry_after_s=20.0))
    async with flow.running() as relay:
        await until(lambda: relay.count("retries_total") == 1)
        await flow.clock.advance(19.9)
        assert flow.sender.sent == []

        await flow.clock.advance(2.2)
        await until(lambda: flow.sender.sent == [BODIES[0]])


async def test_with_a_bound_old_requests_are_given_up_while_it_is_away_and_new_ones_are_not(tmp_path):
    flow = Flow(*BODIES[:25], policy=RetryPolicy(jitter=0.0, max_elapsed_s=60.0), dead_letters=DeadLetters(tmp_path))
    flow.sender.decide = lambda _: RetryableError("Away.")
    async with flow.running() as relay:
        await until(lambda: relay.count("in_flight_requests") == 10)
        dropped = partial(relay.count, "dropped_requests_total", reason="gave_up")
        await advance_until(flow.clock, lambda: dropped() == 25, step_s=61.0)
        await until(lambda: relay.count("in_flight_requests") == 0)
        flow.journal.now_ns = flow.clock.now_ns()
        flow.journal.add(Signal.TRACES, b"new")
        await until(lambda: relay.count("in_flight_requests") == 1)

        flow.sender.decide = lambda _: None
        await advance_until(flow.clock, lambda: flow.sender.sent == [b"new"], step_s=5.0)

    assert flow.committed() == 26
    assert len(list(tmp_path.iterdir())) == 25


async def test_old_requests_still_get_their_try_after_a_restart():
    flow = Flow(*BODIES[:5], policy=RetryPolicy(max_elapsed_s=60.0))
    await flow.clock.advance(10_000.0)

    async with flow.running():
        await until(lambda: len(flow.sender.sent) == 5)


async def test_a_crash_between_send_and_commit_sends_again_and_loses_nothing():
    flow = Flow(*BODIES[:10])
    flow.hold(BODIES[4])
    async with flow.running():
        await until(lambda: len(flow.sender.sent) == 9)
        await advance_until(flow.clock, lambda: flow.committed() == 4)

        # A crash saves nothing more: the next life starts from what is committed at this moment.
        second = ScriptedSender()
        reader = flow.journal.reader("relay")
        async with RunningRelay("d", reader=reader, sender=second, clock=flow.clock):
            await until(lambda: len(second.sent) == 6)

        flow.sender.held[BODIES[4]].set()

    assert second.sent == BODIES[4:10]


async def test_shutdown_finishes_what_is_on_the_wire_and_leaves_the_rest():
    flow = Flow(*BODIES, window=Window(max_requests=2))
    held = [flow.hold(body) for body in BODIES]
    async with flow.running() as relay:
        await until(lambda: len(flow.sender.tried) == 2)
        stopping = asyncio.create_task(relay.relay.shutdown(deadline_s=5.0))
        await flow.clock.advance(0.1)
        assert not stopping.done()

        for event in held:
            event.set()
        await stopping

    assert flow.sender.sent == BODIES[:2]
    assert flow.committed() == 2


async def test_the_deadline_of_shutdown_cuts_what_hangs():
    flow = Flow(*BODIES[:3])
    flow.hold(BODIES[1])
    async with flow.running() as relay:
        await until(lambda: len(flow.sender.sent) == 2)
        stopping = asyncio.create_task(relay.relay.shutdown(deadline_s=5.0))
        await until(lambda: flow.clock.sleeper_count == 2)
        await flow.clock.advance(5.1)
        await stopping

    assert flow.committed() == 1
    assert flow.sender.closed


async def test_shutdown_does_not_wait_for_a_dead_destination():
    flow = Flow(*BODIES[:3])
    flow.sender.decide = lambda _: RetryableError("Away.")
    async with flow.running() as relay:
        await until(lambda: relay.count("in_flight_requests") == 3)

        await relay.relay.shutdown(deadline_s=1000.0)

    assert flow.committed() == 0


async def test_shutdown_is_safe_without_a_start_twice_and_before_run():
    flow = Flow(*BODIES[:3])
    relay = flow.running().relay

    await relay.shutdown(deadline_s=1.0)
    await relay.shutdown(deadline_s=1.0)
    await relay.run()

    assert flow.sender.tried == []
    assert flow.reader.closed


async def test_an_owner_that_cancels_the_task_still_gets_the_place_saved():
    flow = Flow(*BODIES[:3])
    relay = flow.running().relay
    running = asyncio.create_task(relay.run())
    await until(lambda: len(flow.sender.sent) == 3)

    running.cancel()
    await asyncio.wait([running])
    await relay.shutdown(deadline_s=1.0)

    assert flow.committed() == 3


async def test_a_disk_that_refuses_the_place_is_counted_and_tried_again():
    flow = Flow(*BODIES[:3])
    flow.journal.fail_commits = OSError(28, "No space left on device")
    async with flow.running() as relay:
        await until(lambda: len(flow.sender.sent) == 3)
        await advance_until(flow.clock, lambda: relay.count("commit_failures_total") >= 1)

        flow.journal.fail_commits = None

    assert flow.journal.commits["relay"] == [Position(0, 3)]


async def test_a_journal_that_cannot_be_read_for_now_is_read_later():
    flow = Flow(*BODIES[:3])
    flow.journal.fail_reads.append(OSError(5, "Input/output error"))
    async with flow.running() as relay:
        await until(lambda: relay.count("read_failures_total") == 1)
        await until(lambda: flow.clock.sleeper_count == 2)
        await advance_until(flow.clock, lambda: len(flow.sender.sent) == 3)


async def test_the_age_of_the_oldest_open_request_is_shown():
    flow = Flow(*BODIES[:2])
    held = flow.hold(BODIES[0])
    async with flow.running() as relay:
        await until(lambda: len(flow.sender.sent) == 1)
        await flow.clock.advance(42.0)
        assert relay.count("oldest_age_seconds") == 42.0

        held.set()
        await until(lambda: relay.count("oldest_age_seconds") == 0.0)
