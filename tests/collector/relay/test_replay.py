import asyncio
import random

from collector.clock import SystemClock
from collector.errors import PermanentError, RetryableError
from collector.relay.destination import Destination
from collector.relay.replay import ReplayResult, replay
from collector.relay.retry import RetryPolicy
from collector.relay.senders import open_sender
from collector.telemetry.records import Signal
from tests.collector.relay.requests import log_request, trace_request
from tests.support.clock import ManualClock
from tests.support.otlp_answers import Refuse
from tests.support.otlp_sink import OtlpSink
from tests.support.scripted_sender import ScriptedSender
from tests.support.until import until

REQUESTS = [
    (Signal.TRACES, trace_request("a")),
    (Signal.LOGS, log_request("b")),
    (Signal.TRACES, trace_request("c")),
]


async def test_a_recording_arrives_in_order_through_refusals_that_pass():
    async with OtlpSink() as sink:
        sink.script.extend([Refuse(), Refuse(http_status=429)])
        sender = open_sender(Destination(sink.http_url))
        progress = []

        result = await replay(
            REQUESTS,
            sender,
            clock=SystemClock(),
            rng=random.Random(1),
            policy=RetryPolicy(initial_s=0.01, min_s=0.001),
            on_progress=progress.append,
        )
        await sender.close()

        assert [(r.signal, r.body) for r in sink.requests if r.accepted] == REQUESTS
        assert result == ReplayResult(sent=3, sent_bytes=sum(len(body) for _, body in REQUESTS), retries=2)
        assert [step.sent for step in progress] == [1, 2, 3]


async def test_refusals_for_good_are_counted_and_the_rest_goes_on():
    sender = ScriptedSender()
    sender.script.extend([PermanentError("First no."), PermanentError("Second no."), None])

    result = await replay(REQUESTS, sender, clock=ManualClock(), rng=random.Random(1))

    assert (result.sent, result.refused, result.first_refusal) == (1, 2, "First no.")
    assert result.stopped_by is None


async def test_it_stops_when_the_server_stays_away_and_says_why():
    clock = ManualClock()
    sender = ScriptedSender()
    sender.script.append(None)
    sender.decide = lambda _: RetryableError("Nobody there.")
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(replay(iter(REQUESTS), sender, clock=clock, rng=random.Random(1)))
        for _ in range(20):
            await until(lambda: running.done() or clock.sleeper_count == 1)
            await clock.advance(6.0)

    result = running.result()
    assert (result.sent, result.refused, result.stopped_by) == (1, 0, "Nobody there.")
    assert result.retries >= 4
