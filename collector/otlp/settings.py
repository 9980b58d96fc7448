"""What the receivers can be told. Defaults are what a sidecar on the application's own machine needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverLimits:
    """Bounds that both receivers share, since they share one memory."""

    max_request_bytes: int = 64 << 20
    """One request's body, both as it is sent and after decompression; the size that OTLP recommends."""
    max_in_flight_bytes: int = 128 << 20
    """All bodies in memory at one time."""
    max_concurrent_requests: int = 256
    max_connections: int = 1024
    """Of each transport."""
    retry_after_s: float = 1.0
    """What a client is told when one of these bounds is reached and it should come back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSettings:
    """PEM files. With a client CA, clients must show a certificate that it signed."""

    cert_file: Path
    key_file: Path
    client_ca_file: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReceiverSettings:
    host: str = "127.0.0.1"
    bearer_token: str | None = field(default=None, repr=False)
    """When set, every request must carry `Authorization: Bearer <token>`."""
    sender_id: str | None = None
    """Ours: what we sent ourselves is refused."""
    tls: TlsSettings | None = None
    strict_bind: bool = False
    """Refuse to listen beyond loopback without a token or TLS, instead of warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReceiverSettings(_ReceiverSettings):
    port: int = 4318
    """0 takes a free one."""
    max_header_bytes: int = 32 << 10
    header_timeout_s: float = 10.0
    """From the first byte of a request (or the connection) to the end of its headers."""
    body_timeout_s: float = 60.0
    """From the end of the headers to the end of the body."""
    idle_timeout_s: float = 75.0
    """Without any request on an open connection."""
    linger_s: float = 1.0
    """How long a connection that was answered early stays half open, so that the client can read the answer."""
    max_drain_bytes: int = 64 << 10
    """How much of a refused request's body is read and thrown away to keep its connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrpcReceiverSettings(_ReceiverSettings):
    port: int = 4317
    """0 takes a free one."""
    max_metadata_bytes: int = 32 << 10
    max_streams_per_connection: int = 128
    max_reading: int = 16
    """Messages that arrive at one time: the library keeps each in full before its size is known to us."""
    message_timeout_s: float = 60.0
    """For one message to arrive: a call that sends none holds a place."""
    contended_timeout_s: float = 2.0
    """The same while others wait for a place."""
    idle_timeout_s: float = 3600.0
    keepalive_s: float = 120.0
    """How often a silent connection is asked whether it still lives."""
    min_ping_interval_s: float = 10.0
    """Clients that ping more often are disconnected."""
