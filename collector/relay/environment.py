"""`OTEL_EXPORTER_OTLP_*` as a destination, by the rules of the OpenTelemetry specification.

https://opentelemetry.io/docs/specs/otel/protocol/exporter/. An empty variable counts as not set. A value that cannot
work is an error that names the variable, never its content where that may be secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from collector.relay.destination import (
    GRPC_PORT,
    ClientTls,
    Compression,
    Destination,
    DestinationError,
    OtlpProtocol,
)
from collector.telemetry.records import Signal

_PREFIX = "OTEL_EXPORTER_OTLP_"


def destination_from_environment(
    environ: Mapping[str, str],
    *,
    endpoint: str | None = None,
    protocol: OtlpProtocol | None = None,
    name: str = "",
) -> Destination | None:
    """The destination the variables describe, None where they name no endpoint.

    A given `endpoint` takes the place of all endpoint variables, a given `protocol` of that one; everything else
    still comes from the environment. Headers are an exception, since they hold keys: where the variables name endpoints
    of their own, a given endpoint gets their headers only if it is of the same origin as one of them.
    """
    chosen_protocol = protocol or _protocol(_get(environ, "PROTOCOL"))
    insecure = _get(environ, "INSECURE").lower() == "true"
    signal_endpoints: dict[Signal, str] = {}
    headers = parse_headers(_get(environ, "HEADERS"), source=f"{_PREFIX}HEADERS")
    if endpoint is not None and not _is_theirs(environ, endpoint):
        headers = {}
    if endpoint is None:
        endpoint = _get(environ, "ENDPOINT")
        for signal in Signal:
            if url := _get(environ, f"{signal.upper()}_ENDPOINT"):
                signal_endpoints[signal] = _with_scheme(url, chosen_protocol, insecure=insecure)
    if not endpoint and not signal_endpoints:
        return None
    return Destination(
        endpoint=_with_scheme(endpoint, chosen_protocol, insecure=insecure) if endpoint else "",
        name=name,
        protocol=chosen_protocol,
        signal_endpoints=signal_endpoints,
        headers=headers,
        compression=_compression(_get(environ, "COMPRESSION")),
        timeout_s=_timeout_s(_get(environ, "TIMEOUT")),
        tls=ClientTls(
            ca_file=_path(_get(environ, "CERTIFICATE")),
            cert_file=_path(_get(environ, "CLIENT_CERTIFICATE")),
            key_file=_path(_get(environ, "CLIENT_KEY")),
        ),
    )


def parse_headers(text: str, *, source: str) -> dict[str, str]:
    """`name=value,name=value` with names and values percent-encoded; `source` names the text in errors."""
    headers: dict[str, str] = {}
    for position, entry in enumerate(text.split(","), start=1):
        if not entry.strip():
            continue
        name, separator, value = entry.partition("=")
        if not separator or not name.strip():
            raise DestinationError(f"Entry {position} of {source} is not name=value; write it as name=value.")
        headers[unquote(name.strip()).lower()] = unquote(value.strip())
    return headers


def _is_theirs(environ: Mapping[str, str], endpoint: str) -> bool:
    """Whether the environment's headers may go there."""
    names = ("ENDPOINT", *(f"{signal.upper()}_ENDPOINT" for signal in Signal))
    theirs = {_origin(url) for name in names if (url := _get(environ, name))}
    return not theirs or _origin(endpoint) in theirs


def _origin(url: str) -> str:
    """Host and port, which is what a key was given for; a scheme may be left out of gRPC endpoints."""
    return urlsplit(url if "://" in url else f"//{url}").netloc.rpartition("@")[2].lower()


def _get(environ: Mapping[str, str], name: str) -> str:
    return environ.get(f"{_PREFIX}{name}", "").strip()


def _path(text: str) -> Path | None:
    return Path(text) if text else None


def _protocol(text: str) -> OtlpProtocol | Literal["auto"]:
    match text:
        case "":
            return "auto"
        case "grpc" | "http/protobuf":
            return text
        case _:
            raise DestinationError(f"{_PREFIX}PROTOCOL is {text!r}; use grpc or http/protobuf.")


def _compression(text: str) -> Compression:
    match text:
        case "" | "none":
            return "none"
        case "gzip" | "zstd":
            return text
        case _:
            raise DestinationError(f"{_PREFIX}COMPRESSION is {text!r}; use none, gzip or zstd.")


def _timeout_s(text: str) -> float:
    """Seconds from the variable's milliseconds."""
    if not text:
        return 10.0
    if not text.isdigit() or int(text) == 0:
        raise DestinationError(f"{_PREFIX}TIMEOUT is {text!r}; give milliseconds as a whole number, such as 10000.")
    return int(text) / 1000


def _with_scheme(url: str, protocol: OtlpProtocol | Literal["auto"], *, insecure: bool) -> str:
    """An endpoint for gRPC may lack a scheme; then OTEL_EXPORTER_OTLP_INSECURE decides on TLS."""
    if "://" in url or protocol == "http/protobuf" or (protocol == "auto" and not url.endswith(f":{GRPC_PORT}")):
        return url
    return f"{'http' if insecure else 'https'}://{url}"
