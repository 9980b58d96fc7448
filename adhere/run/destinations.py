"""OTLP destinations of the configuration: what is not set there comes from `OTEL_EXPORTER_OTLP_*`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from adhere.config.receiving import OtlpDestinationConfig, RelayConfig
from adhere.errors import ConfigError
from collector.relay.destination import ClientTls, Destination, DestinationError
from collector.relay.environment import destination_from_environment


def destination(config: OtlpDestinationConfig, *, name: str, path: str, environ: Mapping[str, str]) -> Destination:
    """Raises ConfigError that names `path`, where in the configuration this destination stands."""
    try:
        found = destination_from_environment(environ, endpoint=config.endpoint, protocol=config.protocol, name=name)
        if found is None:
            raise ConfigError([f"{path}.endpoint is not set, and OTEL_EXPORTER_OTLP_ENDPOINT is not either; set one."])
        return _with_settings(found, config)
    except DestinationError as err:
        raise ConfigError([f"{path}: {err}"]) from err


def relay_destinations(
    relays: tuple[RelayConfig, ...], *, environ: Mapping[str, str], sender_id: str | None = None
) -> list[Destination]:
    """Each with a name of its own, since the name is the relay's place in the journal."""
    found: list[Destination] = []
    for index, relay in enumerate(relays):
        path = f"relay[{index}]"
        one = destination(relay, name=relay.name or "", path=path, environ=environ)
        if any(one.name == other.name for other in found):
            raise ConfigError([f"{path}: another relay is named {one.name!r} too; give one of them a name of its own."])
        found.append(one if sender_id is None else one.sent_by(sender_id))
    return found


def _with_settings(found: Destination, config: OtlpDestinationConfig) -> Destination:
    if config.headers is not None:
        headers = {**found.headers, **{name: value.get_secret_value() for name, value in config.headers.items()}}
        found = replace(found, headers=headers)
    if config.compression is not None:
        found = replace(found, compression=config.compression)
    if config.timeout_s is not None:
        found = replace(found, timeout_s=config.timeout_s)
    if config.tls is not None:
        found = replace(found, tls=ClientTls(**config.tls.model_dump()))
    return found
