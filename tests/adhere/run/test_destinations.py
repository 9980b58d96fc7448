from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adhere.config.receiving import RelayConfig
from adhere.errors import ConfigError
from adhere.run.destinations import destination, relay_destinations
from collector.telemetry.records import Signal

ENVIRON = {
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://env:4318",
    "OTEL_EXPORTER_OTLP_HEADERS": "tenant=env,other=kept",
    "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
    "OTEL_EXPORTER_OTLP_TIMEOUT": "2000",
    "OTEL_EXPORTER_OTLP_CERTIFICATE": "env.pem",
}


def relay(**settings: Any) -> RelayConfig:
    return RelayConfig.model_validate(settings)


SETTINGS: Mapping[str, tuple[Mapping[str, Any], str, Any]] = {
    "endpoint": ({"endpoint": "http://own:4318"}, "endpoint", "http://own:4318"),
    "endpoint of the environment": ({}, "endpoint", "http://env:4318"),
    "protocol by port": ({"endpoint": "http://own:4317"}, "protocol", "grpc"),
    "protocol": ({"protocol": "grpc"}, "protocol", "grpc"),
    "headers join": ({"headers": {"tenant": "own"}}, "headers", {"tenant": "own", "other": "kept"}),
    "headers of the environment": ({}, "headers", {"tenant": "env", "other": "kept"}),
    "compression": ({"compression": "none"}, "compression", "none"),
    "compression of the environment": ({}, "compression", "gzip"),
    "timeout": ({"timeout_s": 7.5}, "timeout_s", 7.5),
    "timeout of the environment": ({}, "timeout_s", 2.0),
}


@pytest.mark.parametrize(("settings", "attribute", "expected"), SETTINGS.values(), ids=SETTINGS)
def test_what_is_not_set_comes_from_the_environment(
    settings: Mapping[str, Any], attribute: str, expected: object
) -> None:
    found = destination(relay(**settings), name="", path="relay[0]", environ=ENVIRON)

    assert getattr(found, attribute) == expected


def test_certificates_come_from_one_place_as_a_whole() -> None:
    own = destination(relay(tls={"ca_file": "own.pem"}), name="", path="relay[0]", environ=ENVIRON)
    from_environment = destination(relay(), name="", path="relay[0]", environ=ENVIRON)

    assert own.tls.ca_file == Path("own.pem")
    assert from_environment.tls.ca_file == Path("env.pem")


def test_the_error_names_the_place_in_the_configuration() -> None:
    with pytest.raises(ConfigError, match=r"relay\[1\]: The endpoint ftp://b:1 must begin"):
        relay_destinations((relay(endpoint="http://a:1"), relay(endpoint="ftp://b:1")), environ={})


def test_names_come_from_addresses_unless_given() -> None:
    found = relay_destinations((relay(endpoint="http://a:4318/x"), relay(endpoint="http://b:1", name="b")), environ={})

    assert [one.name for one in found] == ["a-4318-x", "b"]


def test_a_relay_of_all_signals_has_an_address_for_each() -> None:
    (found,) = relay_destinations((relay(endpoint="http://a:4318"),), environ={})

    assert {signal: found.url(signal) for signal in found.signals} == {
        signal: f"http://a:4318/v1/{signal}" for signal in Signal
    }
