"""What both transports have in common, each against a real server."""

import grpc
import pytest
from structlog.testing import capture_logs

from collector.errors import (
    MalformedRequestError,
    PermanentError,
    RequestTooLargeError,
    RetryableError,
    UnauthenticatedError,
)
from collector.relay.destination import ClientTls, Destination, DestinationError
from collector.relay.senders import open_sender
from collector.telemetry.records import Signal
from tests.collector.relay.requests import log_request, metric_request, trace_request
from tests.collector.relay.tls import TestAuthority
from tests.support.otlp_answers import Accept, Disconnect, Hang, Refuse
from tests.support.otlp_sink import OtlpSink

PROTOCOLS = pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])


def destination(sink, protocol, **settings):
    endpoint = sink.grpc_url if protocol == "grpc" else sink.http_url
    return Destination(endpoint, protocol=protocol, **{"name": "sink", **settings})


async def send(sink_destination, signal, body, **options):
    sender = open_sender(sink_destination, **options)
    try:
        await sender.send(signal, body)
    finally:
        await sender.close()


@PROTOCOLS
@pytest.mark.parametrize(
    ("signal", "body"),
    [
        (Signal.TRACES, trace_request("a", "b")),
        (Signal.LOGS, log_request("l")),
        (Signal.METRICS, metric_request("m")),
        (Signal.TRACES, b""),
        (Signal.TRACES, trace_request(*(f"span {n}" for n in range(50)), padding=10_000)),
    ],
    ids=["traces", "logs", "metrics", "empty", "large"],
)
@pytest.mark.parametrize("compression", ["none", "gzip"])
async def test_bytes_arrive_as_they_are(protocol, signal, body, compression):
    async with OtlpSink() as sink:
        await send(destination(sink, protocol, compression=compression), signal, body)

        assert sink.bodies(signal) == [body]
        assert len(sink.requests) == 1


@PROTOCOLS
async def test_headers_are_sent_with_every_request(protocol):
    async with OtlpSink() as sink:
        await send(destination(sink, protocol, headers={"X-Api-Key": "k1"}), Signal.TRACES, trace_request("a"))

        assert sink.requests[0].headers["x-api-key"] == "k1"
        assert "adhere" in sink.requests[0].headers["user-agent"]


@PROTOCOLS
@pytest.mark.parametrize(
    ("http_status", "grpc_code", "expected"),
    [
        (400, grpc.StatusCode.INVALID_ARGUMENT, MalformedRequestError),
        (401, grpc.StatusCode.UNAUTHENTICATED, UnauthenticatedError),
        (403, grpc.StatusCode.PERMISSION_DENIED, UnauthenticatedError),
        (404, grpc.StatusCode.UNIMPLEMENTED, PermanentError),
        (413, grpc.StatusCode.RESOURCE_EXHAUSTED, RequestTooLargeError),
        (500, grpc.StatusCode.INTERNAL, PermanentError),
        (429, grpc.StatusCode.UNAVAILABLE, RetryableError),
        (502, grpc.StatusCode.ABORTED, RetryableError),
        (503, grpc.StatusCode.CANCELLED, RetryableError),
        (504, grpc.StatusCode.DEADLINE_EXCEEDED, RetryableError),
        (503, grpc.StatusCode.OUT_OF_RANGE, RetryableError),
        (503, grpc.StatusCode.DATA_LOSS, RetryableError),
    ],
    ids=lambda value: getattr(value, "name", None),
)
async def test_a_refusal_becomes_its_error_with_the_servers_text(protocol, http_status, grpc_code, expected):
    async with OtlpSink() as sink:
        sink.default = Refuse(http_status=http_status, grpc_code=grpc_code, message="not like this")

        with pytest.raises(expected, match=r"The destination sink answered .*: not like this\.") as caught:
            await send(destination(sink, protocol), Signal.TRACES, trace_request("a"))

        assert type(caught.value) is expected
        assert len(sink.requests) == 1


@PROTOCOLS
async def test_the_time_a_server_names_is_in_the_error(protocol):
    async with OtlpSink() as sink:
        sink.default = Refuse(
            http_status=429, grpc_code=grpc.StatusCode.RESOURCE_EXHAUSTED, retry_after="7", retry_info_s=7
        )

        with pytest.raises(RetryableError) as caught:
            await send(destination(sink, protocol), Signal.TRACES, trace_request("a"))

        assert caught.value.retry_after_s == 7.0


@PROTOCOLS
async def test_no_answer_in_time_is_retryable(protocol):
    async with OtlpSink() as sink:
        sink.default = Hang()

        with pytest.raises(RetryableError):
            await send(destination(sink, protocol, timeout_s=0.1), Signal.TRACES, trace_request("a"))


@PROTOCOLS
async def test_a_lost_answer_is_retryable(protocol):
    async with OtlpSink() as sink:
        sink.default = Disconnect(stored=True)

        with pytest.raises(RetryableError):
            await send(destination(sink, protocol), Signal.TRACES, trace_request("a"))


@PROTOCOLS
async def test_nobody_there_is_retryable(protocol):
    async with OtlpSink() as sink:
        away = destination(sink, protocol)

    with pytest.raises(RetryableError, match="The destination sink"):
        await send(away, Signal.TRACES, trace_request("a"))


@PROTOCOLS
async def test_rejected_items_are_counted_logged_and_not_an_error(protocol):
    async with OtlpSink() as sink:
        sink.script.extend([Accept(rejected=2, message="too old"), Accept(message="deprecated"), Accept()])
        rejected = []
        sender = open_sender(destination(sink, protocol), on_rejected=lambda *found: rejected.append(found))

        with capture_logs() as logs:
            for signal, body in [
                (Signal.TRACES, trace_request("a", "b")),
                (Signal.LOGS, log_request("a")),
                (Signal.METRICS, metric_request("a")),
            ]:
                await sender.send(signal, body)
        await sender.close()

        assert rejected == [(Signal.TRACES, 2)]
        assert [(line["event"], line["reason"]) for line in logs] == [
            ("destination accepted in part", "too old"),
            ("destination warns", "deprecated"),
        ]


@PROTOCOLS
async def test_repeated_partial_successes_are_one_line_and_all_counted(protocol):
    async with OtlpSink() as sink:
        sink.default = Accept(rejected=1, message="no")
        rejected = []
        sender = open_sender(destination(sink, protocol), on_rejected=lambda *found: rejected.append(found))

        with capture_logs() as logs:
            for _ in range(5):
                await sender.send(Signal.TRACES, trace_request("a"))
        await sender.close()

        assert len(rejected) == 5
        assert len(logs) == 1


@PROTOCOLS
async def test_a_signal_without_an_address_is_refused_without_a_connection(protocol):
    async with OtlpSink() as sink:
        url = sink.grpc_url if protocol == "grpc" else f"{sink.http_url}/v1/logs"
        only_logs = Destination(protocol=protocol, signal_endpoints={Signal.LOGS: url}, name="sink")

        await send(only_logs, Signal.LOGS, log_request("a"))
        with pytest.raises(PermanentError, match="no address for traces"):
            await send(only_logs, Signal.TRACES, trace_request("a"))

        assert len(sink.requests) == 1


@PROTOCOLS
@pytest.mark.parametrize("asks_for_client", [False, True], ids=["tls", "mutual_tls"])
async def test_tls_with_a_private_authority(tmp_path, protocol, asks_for_client):
    authority = TestAuthority.in_folder(tmp_path)
    async with OtlpSink(tls=authority.server(asks_for_client=asks_for_client)) as sink:
        tls = authority.client(shows_certificate=asks_for_client)

        await send(destination(sink, protocol, tls=tls), Signal.TRACES, trace_request("a"))

        assert len(sink.spans) == 1


@PROTOCOLS
@pytest.mark.parametrize("case", ["unknown_authority", "wrong_name", "no_client_certificate"])
async def test_tls_that_does_not_fit_sends_nothing(tmp_path, protocol, case):
    authority = TestAuthority.in_folder(tmp_path)
    server = authority.server(
        "elsewhere.example" if case == "wrong_name" else "127.0.0.1", asks_for_client=case == "no_client_certificate"
    )
    async with OtlpSink(tls=server) as sink:
        tls = ClientTls() if case == "unknown_authority" else authority.client()

        with pytest.raises(RetryableError):
            await send(destination(sink, protocol, tls=tls), Signal.TRACES, trace_request("a"))

        assert sink.requests == []


@PROTOCOLS
@pytest.mark.parametrize("content", [None, b"no certificate"], ids=["missing", "not_pem"])
async def test_tls_files_that_cannot_be_used_are_named(tmp_path, protocol, content):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    unusable = Destination("https://127.0.0.1:1", protocol=protocol, tls=ClientTls(ca_file=path))

    with pytest.raises(DestinationError, match=r"ca\.pem"):
        open_sender(unusable)


@PROTOCOLS
async def test_closing_twice_is_fine(protocol):
    sender = open_sender(Destination("http://127.0.0.1:1", protocol=protocol))

    await sender.close()
    await sender.close()


@PROTOCOLS
@pytest.mark.parametrize(
    "answer",
    [Refuse(http_status=401, grpc_code=grpc.StatusCode.UNAUTHENTICATED), Disconnect(), Accept(rejected=1)],
    ids=["refused", "disconnected", "partial"],
)
async def test_secrets_and_content_are_in_no_log_and_no_error(protocol, answer, caplog):
    caplog.set_level("DEBUG")
    async with OtlpSink() as sink:
        sink.default = answer
        secret = destination(sink, protocol, headers={"authorization": "Bearer hunter2"})

        with capture_logs() as logs:
            try:
                await send(secret, Signal.TRACES, trace_request("canary content"))
            except (PermanentError, RetryableError) as err:
                logs.append({"error": f"{err!r} {err.__cause__!r}"})

        seen = f"{logs} {caplog.text} {secret!r}"
        assert "hunter2" not in seen
        assert "canary" not in seen
