"""Requests that a destination finds too large, against real servers with a real limit."""

import random

import grpc
import pytest

from collector.errors import RequestTooLargeError
from collector.relay.dead_letters import DeadLetters
from collector.relay.destination import Destination
from collector.relay.senders import open_sender
from collector.telemetry.records import Signal
from tests.collector.relay.requests import span_names, trace_request
from tests.support.clock import ManualClock
from tests.support.journal import MemoryJournal
from tests.support.otlp_answers import Refuse
from tests.support.otlp_sink import OtlpSink
from tests.support.running_relay import RunningRelay
from tests.support.scripted_sender import ScriptedSender
from tests.support.until import until


def relaying(*bodies, sender, **options):
    journal = MemoryJournal()
    for body in bodies:
        journal.add(Signal.TRACES, body)
    return RunningRelay("d", reader=journal.reader("relay"), sender=sender, clock=ManualClock(), **options)


async def test_over_the_grpc_limit_of_4_mib_every_span_arrives_once():
    names = [f"span {n}" for n in range(60)]
    body = trace_request(*names, padding=200_000)
    async with OtlpSink(grpc_max_receive_bytes=4 << 20) as sink:
        sender = open_sender(Destination(sink.grpc_url, protocol="grpc"))
        async with relaying(body, trace_request("next"), sender=sender) as relay:
            await sink.wait_for(lambda s: len(s.spans) == 61)
            await until(lambda: relay.count("relayed_requests_total") == 2)

        assert sorted(span.name for span in sink.spans) == sorted([*names, "next"])
        assert all(len(received) <= 4 << 20 for received in sink.bodies(Signal.TRACES))
        assert relay.count("splits_total") == 3
        assert relay.count("dropped_requests_total") == 0


class LimitedSender(ScriptedSender):
    def __init__(self, max_bytes):
        super().__init__()
        self.decide = lambda body: RequestTooLargeError("Too large.") if len(body) > max_bytes else None


async def test_http_413_is_cut_too():
    async with OtlpSink() as sink:
        sink.script.append(Refuse(http_status=413))
        sender = open_sender(Destination(sink.http_url))
        async with relaying(trace_request("a", "b", "c", "d"), sender=sender):
            await sink.wait_for(lambda s: len(s.traces) == 2)

        assert sorted(span.name for span in sink.spans) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("seed", range(20))
async def test_only_the_spans_that_are_too_large_themselves_are_put_aside(tmp_path, seed):
    rng = random.Random(seed)
    small = [f"s{n}" for n in range(rng.randint(1, 30))]
    large = ["L" * rng.randint(2_000, 9_000) for _ in range(rng.randint(1, 4))]
    names = [*small, *large]
    rng.shuffle(names)
    sender = LimitedSender(1_000)

    async with relaying(
        trace_request(*names), sender=sender, dead_letters=DeadLetters(tmp_path), max_parts=10_000
    ) as relay:
        await until(lambda: relay.count("dropped_requests_total", reason="too_large") == 1)
        await until(lambda: len(list(tmp_path.iterdir())) == len(large))

    assert sorted(name for body in sender.sent for name in span_names(body)) == sorted(small)
    assert sorted(name for path in tmp_path.iterdir() for name in span_names(path.read_bytes())) == sorted(large)


async def test_a_quota_that_looks_like_a_limit_costs_few_tries_and_keeps_the_whole(tmp_path):
    body = trace_request(*(f"span {n}" for n in range(1_000)))
    async with OtlpSink() as sink:
        sink.default = Refuse(grpc_code=grpc.StatusCode.RESOURCE_EXHAUSTED, message="quota")
        sender = open_sender(Destination(sink.grpc_url, protocol="grpc"))
        async with relaying(body, sender=sender, dead_letters=DeadLetters(tmp_path)) as relay:
            await until(lambda: relay.count("dropped_requests_total", reason="too_large") == 1)

        (letter,) = tmp_path.iterdir()
        assert letter.read_bytes() == body
        assert len(sink.requests) <= 30


async def test_the_tries_for_one_request_are_bounded(tmp_path):
    body = trace_request(*("L" * 2_000 for _ in range(200)), "small")
    sender = LimitedSender(1_000)

    async with relaying(body, sender=sender, dead_letters=DeadLetters(tmp_path), max_parts=20) as relay:
        await until(lambda: relay.count("dropped_requests_total") == 1)
        await until(lambda: relay.count("in_flight_requests") == 0)

    assert len(sender.tried) <= 45
    kept = [name for path in tmp_path.iterdir() for name in span_names(path.read_bytes())]
    assert len(kept) + sum(len(span_names(body)) for body in sender.sent) == 201


async def test_what_cannot_be_cut_is_put_aside_as_it_is(tmp_path):
    sender = LimitedSender(3)

    async with relaying(b"no protobuf at all", sender=sender, dead_letters=DeadLetters(tmp_path)) as relay:
        await until(lambda: relay.count("dropped_requests_total", reason="too_large") == 1)

    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"no protobuf at all"]
