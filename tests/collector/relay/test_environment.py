from dataclasses import replace
from pathlib import Path

import pytest

from collector.relay.destination import ClientTls, Destination, DestinationError
from collector.relay.environment import destination_from_environment
from collector.telemetry.records import Signal

BASE = Destination("http://c:4318")


def environ(**variables):
    return {f"OTEL_EXPORTER_OTLP_{name}": value for name, value in variables.items()}


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        pytest.param({"ENDPOINT": "http://c:4318"}, BASE, id="base"),
        pytest.param({"ENDPOINT": " http://c:4318 "}, BASE, id="spaces_around"),
        pytest.param({"ENDPOINT": "http://c:4318", "PROTOCOL": "", "TIMEOUT": ""}, BASE, id="empty_is_not_set"),
        pytest.param(
            {"ENDPOINT": "http://c:4317"}, Destination("http://c:4317", protocol="grpc"), id="protocol_by_port"
        ),
        pytest.param(
            {"ENDPOINT": "http://c:9000", "PROTOCOL": "grpc"},
            Destination("http://c:9000", protocol="grpc"),
            id="protocol_grpc",
        ),
        pytest.param(
            {"ENDPOINT": "http://c:4317", "PROTOCOL": "http/protobuf"},
            Destination("http://c:4317", protocol="http/protobuf"),
            id="protocol_http",
        ),
        pytest.param({"ENDPOINT": "c:4317"}, Destination("https://c:4317", protocol="grpc"), id="no_scheme_is_secure"),
        pytest.param(
            {"ENDPOINT": "c:9000", "PROTOCOL": "grpc", "INSECURE": "True"},
            Destination("http://c:9000", protocol="grpc"),
            id="no_scheme_insecure",
        ),
        pytest.param(
            {"ENDPOINT": "https://c:9000", "PROTOCOL": "grpc", "INSECURE": "true"},
            Destination("https://c:9000", protocol="grpc"),
            id="scheme_wins_over_insecure",
        ),
        pytest.param(
            {"HEADERS": " api-key = a%20b%2Cc , Other=x=y,,", "ENDPOINT": "http://c:4318"},
            replace(BASE, headers={"api-key": "a b,c", "other": "x=y"}),
            id="headers_are_url_decoded",
        ),
        pytest.param(
            {"ENDPOINT": "http://c:4318", "COMPRESSION": "gzip", "TIMEOUT": "2500"},
            replace(BASE, compression="gzip", timeout_s=2.5),
            id="compression_and_milliseconds",
        ),
        pytest.param(
            {"ENDPOINT": "https://c", "CERTIFICATE": "ca.pem", "CLIENT_CERTIFICATE": "c.pem", "CLIENT_KEY": "k.pem"},
            Destination(
                "https://c", tls=ClientTls(ca_file=Path("ca.pem"), cert_file=Path("c.pem"), key_file=Path("k.pem"))
            ),
            id="tls_files",
        ),
        pytest.param(
            {"TRACES_ENDPOINT": "http://t:1/in", "LOGS_ENDPOINT": "http://l:2"},
            Destination(signal_endpoints={Signal.TRACES: "http://t:1/in", Signal.LOGS: "http://l:2"}),
            id="signals_only",
        ),
        pytest.param(
            {"ENDPOINT": "http://c:4318", "METRICS_ENDPOINT": "http://m:3/x"},
            Destination("http://c:4318", signal_endpoints={Signal.METRICS: "http://m:3/x"}),
            id="base_and_signal",
        ),
        pytest.param({}, None, id="nothing"),
        pytest.param({"HEADERS": "a=b", "PROTOCOL": "grpc"}, None, id="no_endpoint"),
    ],
)
def test_variables_give_a_destination(variables, expected):
    assert destination_from_environment(environ(**variables)) == expected


@pytest.mark.parametrize(
    ("variables", "signal", "expected"),
    [
        pytest.param({"ENDPOINT": "http://c/a/"}, Signal.LOGS, "http://c/a/v1/logs", id="appended_to_a_base"),
        pytest.param({"LOGS_ENDPOINT": "http://c/a/"}, Signal.LOGS, "http://c/a/", id="as_it_is_for_a_signal"),
        pytest.param(
            {"ENDPOINT": "http://c", "LOGS_ENDPOINT": "http://l/x"}, Signal.LOGS, "http://l/x", id="signal_before_base"
        ),
        pytest.param(
            {"ENDPOINT": "http://c", "LOGS_ENDPOINT": "http://l/x"}, Signal.TRACES, "http://c/v1/traces", id="other"
        ),
        pytest.param(
            {"ENDPOINT": "http://c:1", "PROTOCOL": "grpc"}, Signal.TRACES, "http://c:1", id="nothing_appended_for_grpc"
        ),
    ],
)
def test_path_rules_of_the_specification(variables, signal, expected):
    assert destination_from_environment(environ(**variables)).url(signal) == expected


def test_a_given_endpoint_takes_the_rest_from_the_environment():
    variables = environ(HEADERS="a=b", TIMEOUT="1000")

    found = destination_from_environment(variables, endpoint="http://mine:4317", name="mine")

    assert found == Destination("http://mine:4317", name="mine", headers={"a": "b"}, timeout_s=1.0)


@pytest.mark.parametrize(
    ("endpoint", "headers"),
    [
        pytest.param("http://c:4318/other/path", {"a": "b"}, id="same_origin"),
        pytest.param("https://t", {"a": "b"}, id="same_origin_as_one_signal"),
        pytest.param("http://mine:4318", {}, id="another_origin"),
        pytest.param("http://c:4317", {}, id="another_port"),
    ],
)
def test_a_key_goes_only_to_the_backend_it_was_given_for(endpoint, headers):
    variables = environ(ENDPOINT="http://c:4318", TRACES_ENDPOINT="http://t/x", HEADERS="a=b", TIMEOUT="1000")

    found = destination_from_environment(variables, endpoint=endpoint)

    assert found is not None
    assert dict(found.headers) == headers
    assert found.timeout_s == 1.0


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        pytest.param({"PROTOCOL": "http/json"}, "OTEL_EXPORTER_OTLP_PROTOCOL is 'http/json'", id="protocol"),
        pytest.param({"COMPRESSION": "deflate"}, "OTEL_EXPORTER_OTLP_COMPRESSION is 'deflate'", id="compression"),
        pytest.param({"TIMEOUT": "10s"}, "OTEL_EXPORTER_OTLP_TIMEOUT is '10s'", id="timeout"),
        pytest.param({"TIMEOUT": "0"}, "OTEL_EXPORTER_OTLP_TIMEOUT is '0'", id="timeout_zero"),
        pytest.param({"HEADERS": "a=b,hunter2"}, "Entry 2 of OTEL_EXPORTER_OTLP_HEADERS", id="headers"),
        pytest.param({"ENDPOINT": "c"}, "must begin with http://", id="endpoint"),
    ],
)
def test_a_value_that_cannot_work_names_its_variable(variables, expected):
    with pytest.raises(DestinationError, match=expected) as caught:
        destination_from_environment(environ(**{"ENDPOINT": "http://c:4318", **variables}))

    assert "hunter2" not in str(caught.value)
