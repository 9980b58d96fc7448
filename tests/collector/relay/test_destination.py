import base64
from dataclasses import replace

import pytest

from collector.relay.destination import ClientTls, Destination, DestinationError, shown_url
from collector.telemetry.records import Signal


@pytest.mark.parametrize(
    ("endpoint", "protocol", "expected"),
    [
        pytest.param("http://tempo:4318", "auto", "http://tempo:4318/v1/traces", id="base"),
        pytest.param("http://tempo:4318/", "auto", "http://tempo:4318/v1/traces", id="base_with_slash"),
        pytest.param("https://api.example.com/otlp", "auto", "https://api.example.com/otlp/v1/traces", id="path"),
        pytest.param("http://[::1]:4318", "auto", "http://[::1]:4318/v1/traces", id="ipv6"),
        pytest.param("http://tempo:4317", "auto", "http://tempo:4317", id="grpc_by_port"),
        pytest.param("http://tempo:4317", "http/protobuf", "http://tempo:4317/v1/traces", id="http_by_word"),
        pytest.param("https://tempo:443", "grpc", "https://tempo:443", id="grpc_by_word"),
        pytest.param("http://tempo:4318/a?key=k#f", "auto", "http://tempo:4318/a/v1/traces", id="query_of_a_base"),
    ],
)
def test_a_base_address_gives_each_signals_url(endpoint, protocol, expected):
    assert Destination(endpoint, protocol=protocol).url(Signal.TRACES) == expected


def test_an_address_for_a_signal_is_used_as_it_stands_and_others_go_nowhere():
    destination = Destination(signal_endpoints={Signal.LOGS: "http://loki:3100/otlp/in?tenant=7"})

    assert destination.url(Signal.LOGS) == "http://loki:3100/otlp/in?tenant=7"
    assert destination.url(Signal.TRACES) is None
    assert destination.signals == {Signal.LOGS}


def test_user_info_becomes_a_header_and_is_seen_nowhere():
    destination = Destination("http://me:pa%24s@tempo:4318/x", headers={"X-Key": "secret-value"})

    assert destination.endpoint == "http://tempo:4318/x"
    assert destination.headers["authorization"] == "Basic " + base64.b64encode(b"me:pa$s").decode()
    assert destination.headers["x-key"] == "secret-value"
    for secret in ("pa$s", "pa%24s", "secret-value", "Basic"):
        assert secret not in repr(destination)


def test_a_given_authorization_header_wins_over_user_info():
    destination = Destination("http://me:pass@tempo:4318", headers={"Authorization": "Bearer t"})

    assert destination.headers["authorization"] == "Bearer t"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param({"endpoint": ""}, "needs an address", id="nothing"),
        pytest.param({"endpoint": "tempo:4318"}, "tempo:4318 must begin with http", id="no_scheme"),
        pytest.param({"endpoint": "ftp://tempo"}, "must begin with http", id="wrong_scheme"),
        pytest.param({"endpoint": "http://"}, "names no host", id="no_host"),
        pytest.param({"endpoint": "http://:4318"}, "names no host", id="port_only"),
        pytest.param({"endpoint": "http://a b:4318"}, "names no host", id="space"),
        pytest.param({"endpoint": "http://tempo:99999"}, "is not a URL", id="port_too_big"),
        pytest.param({"endpoint": "http://tempo:x"}, "is not a URL", id="port_no_number"),
        pytest.param({"endpoint": "http://[::1"}, "is not a URL", id="open_bracket"),
        pytest.param({"headers": {"a b": "x"}}, "header name", id="header_name"),
        pytest.param({"headers": {"key": "a\r\nb: c"}}, "header key has characters", id="header_injection"),
        pytest.param({"compression": "brotli"}, "'brotli' is not known", id="compression"),
        pytest.param({"timeout_s": 0}, "timeout of 0 s", id="timeout"),
        pytest.param({"timeout_s": float("nan")}, "timeout of nan s", id="timeout_nan"),
        pytest.param({"protocol": "grpc", "compression": "zstd"}, "none or gzip", id="grpc_zstd"),
        pytest.param(
            {"protocol": "grpc", "tls": ClientTls(insecure_skip_verify=True)}, "cannot skip", id="grpc_unverified"
        ),
        pytest.param({"tls": ClientTls(cert_file="c.pem")}, "go together", id="certificate_without_key"),
    ],
)
def test_settings_that_cannot_work_are_one_sentence(arguments, expected):
    with pytest.raises(DestinationError, match=expected) as caught:
        Destination(**{"endpoint": "http://tempo:4318", **arguments})

    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    "url",
    [
        "http://me:hunter2@tempo:x",
        "ftp://me:hunter2@tempo",
        "http://me:hun/ter2hunter2@tempo:x",
        "me:hunter2@tempo:4318",
        "http://me:hunter2?hunter2@:4318",
        "http://tempo:x/?key=hunter2",
        "http:/me:hunter2@tempo",
    ],
)
def test_no_secret_is_in_the_error_for_a_broken_url(url):
    with pytest.raises(DestinationError) as caught:
        Destination(url)

    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in shown_url(url)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("endpoint", "name"),
    [
        ("http://tempo:4318", "tempo-4318"),
        ("https://api.example.com/otlp/v2", "api.example.com-otlp-v2"),
        ("http://[::1]:4318", "1-4318"),
    ],
)
def test_the_name_comes_from_the_address_and_fits_a_file_name(endpoint, name):
    assert Destination(endpoint).name == name


def test_a_copy_with_other_settings_keeps_the_rest():
    destination = Destination("http://u:p@tempo:4318", headers={"a": "b"})

    copy = replace(destination, timeout_s=3.0)

    assert (copy.headers, copy.endpoint, copy.name) == (destination.headers, "http://tempo:4318", "tempo-4318")
