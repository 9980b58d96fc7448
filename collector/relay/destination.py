"""Where OTLP is sent to, as settings: validated once, safe to log.

A destination holds one base address, or one address a signal, or both; an address for a signal is used as it stands,
the base address gets `/v1/<signal>` over HTTP. User-info in an address is taken out of it at once and becomes an
`authorization` header, as HTTP clients do. Header values are in no repr and no error message.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from collector.errors import AdhereError
from collector.sender_id import SENDER_HEADER
from collector.telemetry.records import Signal

OtlpProtocol: TypeAlias = Literal["http/protobuf", "grpc"]
Compression: TypeAlias = Literal["none", "gzip", "zstd"]

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e\t]*")
GRPC_PORT = 4317


class DestinationError(AdhereError, ValueError):
    """The settings of a destination cannot work."""


@dataclass(frozen=True, slots=True)
class ClientTls:
    ca_file: Path | None = None
    """CA of the server, PEM; the system's CAs if not set."""
    cert_file: Path | None = None
    """Our own certificate, PEM, for servers that ask for one; goes with `key_file`."""
    key_file: Path | None = None
    insecure_skip_verify: bool = False
    """Do not check the server's certificate. HTTP only; for tests."""


@dataclass(frozen=True, slots=True)
class Destination:
    endpoint: str = ""
    """Base address, such as `http://tempo:4318`, without a query; "" where only some signals have an address."""
    name: str = ""
    """In metrics, logs and the name of the relay's cursor; from the address if empty."""
    protocol: OtlpProtocol | Literal["auto"] = "auto"
    """`auto` becomes gRPC for port 4317 and HTTP otherwise."""
    signal_endpoints: Mapping[Signal, str] = field(default_factory=dict, repr=False)
    """Addresses for single signals, used as they stand; a query may be secret."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every request; may be secret. Names in lower case."""
    compression: Compression = "none"
    timeout_s: float = 10.0
    """Bound of one try, from connecting to the end of the answer."""
    tls: ClientTls = field(default_factory=ClientTls)

    def __post_init__(self) -> None:
        headers = {name.strip().lower(): value for name, value in self.headers.items()}
        endpoint = _normalised(self.endpoint, headers).partition("?")[0] if self.endpoint else ""
        by_signal = {Signal(signal): _normalised(url, headers) for signal, url in self.signal_endpoints.items()}
        first = endpoint or next(iter(by_signal.values()), "")
        if not first:
            raise DestinationError("A destination needs an address; set endpoint, such as http://localhost:4318.")
        protocol = self.protocol
        if protocol == "auto":
            protocol = "grpc" if urlsplit(first).port == GRPC_PORT else "http/protobuf"
        settled = {
            "headers": headers,
            "endpoint": endpoint,
            "signal_endpoints": by_signal,
            "protocol": protocol,
            "name": self.name or _name(first),
        }
        for attribute, value in settled.items():
            object.__setattr__(self, attribute, value)
        self._check()

    def _check(self) -> None:
        for name, value in self.headers.items():
            check_header(name, value)
        if self.compression not in ("none", "gzip", "zstd"):
            raise DestinationError(f"The compression {self.compression!r} is not known; use none, gzip or zstd.")
        if not 0 < self.timeout_s <= 3600:
            raise DestinationError(f"The timeout of {self.timeout_s} s is not between 0 and 3600 s.")
        if (self.tls.cert_file is None) != (self.tls.key_file is None):
            raise DestinationError("A client certificate and its key go together; set both or none.")
        if self.protocol == "grpc" and self.compression == "zstd":
            raise DestinationError("gRPC destinations take compression none or gzip, not zstd.")
        if self.protocol == "grpc" and self.tls.insecure_skip_verify:
            raise DestinationError("gRPC cannot skip the check of a certificate; give the server's CA as ca_file.")

    @property
    def signals(self) -> frozenset[Signal]:
        """What this destination has an address for."""
        return frozenset(Signal) if self.endpoint else frozenset(self.signal_endpoints)

    def sent_by(self, sender_id: str) -> Destination:
        """The same, with every request saying which Adhere it is from."""
        return replace(self, headers={**self.headers, SENDER_HEADER: sender_id})

    def url(self, signal: Signal) -> str | None:
        """Full address for a signal; over gRPC the server's. None: this signal goes nowhere."""
        if own := self.signal_endpoints.get(signal):
            return own
        if not self.endpoint or self.protocol == "grpc":
            return self.endpoint or None
        return f"{self.endpoint.rstrip('/')}/v1/{signal}"


def check_header(name: str, value: str) -> None:
    """Raises DestinationError, without the value."""
    if not _HEADER_NAME.fullmatch(name):
        raise DestinationError(f"The header name {name!r} is not valid; use letters, digits and '-'.")
    if not _HEADER_VALUE.fullmatch(value):
        raise DestinationError(f"The value of the header {name} has characters no header can carry; encode it.")


def _normalised(url: str, headers: dict[str, str]) -> str:
    """The address without user-info and fragment; user-info goes to `headers` as `authorization`."""
    shown = shown_url(url)
    try:
        parts = urlsplit(url.strip())
        port, host = parts.port, parts.hostname
    except ValueError:
        raise DestinationError(f"The endpoint {shown} is not a URL; write it as http://host:port.") from None
    if parts.scheme not in ("http", "https"):
        raise DestinationError(f"The endpoint {shown} must begin with http:// or https://, such as http://tempo:4318.")
    if not host or re.search(r"[\s\x00-\x1f\\]", parts.netloc + parts.path):
        raise DestinationError(f"The endpoint {shown} names no host; write it as {parts.scheme}://host:port.")
    if parts.username is not None or parts.password is not None:
        pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        headers.setdefault("authorization", f"Basic {base64.b64encode(pair.encode()).decode()}")
    bracketed = f"[{host}]" if ":" in host else host
    netloc = bracketed if port is None else f"{bracketed}:{port}"
    return urlunsplit(SplitResult(parts.scheme, netloc, parts.path, parts.query, ""))


def shown_url(url: str) -> str:
    """A URL as it may be shown: no user-info and no query, even where it is too broken to be parsed."""
    scheme, separator, rest = url.strip().rpartition("://")
    rest = re.split(r"[?#]", rest.rpartition("@")[2])[0]
    return f"{scheme}{separator}{rest}" if scheme.isalnum() else rest


def _name(url: str) -> str:
    """Host, port and path in letters, digits and '-': fit for a file name and a metric label."""
    parts = urlsplit(url)
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", f"{parts.netloc}{parts.path}").strip("-.")
    return slug[:80] or "destination"
