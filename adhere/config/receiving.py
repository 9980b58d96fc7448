"""Configuration of what comes in: receivers, journal, relay."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from adhere.config.base import ConfigPart, Endpoint, Token


def _countable(value: int) -> int:
    if value >= 1 << 62:
        raise ValueError("this is more than any disk or memory holds; write a number of bytes below 2^62")
    return value


Bytes = Annotated[int, Field(gt=0), AfterValidator(_countable)]
Seconds = Annotated[float, Field(gt=0)]


class TlsServerConfig(ConfigPart):
    cert_file: Path
    """Certificate chain, PEM."""
    key_file: Path
    """Private key, PEM."""
    client_ca_file: Path | None = None
    """CA that client certificates must come from; set it to require them (mTLS)."""


class ReceiverConfig(ConfigPart):
    endpoint: Endpoint
    """host:port to listen on. Loopback unless you say otherwise."""
    enabled: bool = True
    """Whether to open this receiver at all."""
    tls: TlsServerConfig | None = None
    """Serve TLS (1.2 or newer) with this certificate. Without it, plain text."""
    bearer_token: Token | None = None
    """When set, every request must carry `Authorization: Bearer <token>`."""


class GrpcReceiverConfig(ReceiverConfig):
    endpoint: Endpoint = "127.0.0.1:4317"
    """host:port to listen on for OTLP/gRPC. Loopback unless you say otherwise."""


class HttpReceiverConfig(ReceiverConfig):
    endpoint: Endpoint = "127.0.0.1:4318"
    """host:port to listen on for OTLP/HTTP. Loopback unless you say otherwise."""


class ReceiverLimitsConfig(ConfigPart):
    max_request_bytes: Bytes = 64 << 20
    """Largest request, before and after decompression (bytes)."""
    max_in_flight_bytes: Bytes = 128 << 20
    """All request bodies in memory at one time (bytes); over it, clients are told to come back."""
    max_connections: Annotated[int, Field(gt=0)] = 1024
    """Open connections of each receiver at one time; over it, new ones are refused. Fewer where the system
    allows too few open files; the log then says so.
    """
    max_concurrent_requests: Annotated[int, Field(gt=0)] = 256
    """Requests at work at one time, over both receivers; over it, clients are told to come back."""


class ReceiversConfig(ConfigPart):
    grpc: GrpcReceiverConfig = GrpcReceiverConfig()
    http: HttpReceiverConfig = HttpReceiverConfig()
    limits: ReceiverLimitsConfig = ReceiverLimitsConfig()

    @model_validator(mode="after")
    def _one_is_on(self) -> Self:
        if not (self.grpc.enabled or self.http.enabled):
            raise ValueError("grpc and http are both off, so nothing could come in; enable one")
        return self


class JournalConfig(ConfigPart):
    max_bytes: Bytes = 1 << 30
    """Bound of the journal on disk (bytes); at it, receivers answer that clients should retry."""
    segment_bytes: Bytes = 64 << 20
    """Size at which a new segment file is begun (bytes); a quarter of `max_bytes` at most, whatever is set here."""
    compression: Literal["auto", "always", "never"] = "auto"
    """zstd of what is written; `auto` compresses while that is quicker than the disk."""
    durability: Literal["full", "relaxed"] = "full"
    """`full`: a request is acknowledged after fdatasync. `relaxed`: after the write, with a sync every 0.2 s, so that a
    power failure may take what came in since; a killed process takes nothing."""

    @model_validator(mode="after")
    def _segments_fit(self) -> Self:
        if self.segment_bytes * 2 > self.max_bytes:
            raise ValueError(
                f"segment_bytes ({self.segment_bytes}) must be at most half of max_bytes ({self.max_bytes}),"
                " since space is freed a segment at a time"
            )
        return self


class TlsClientConfig(ConfigPart):
    ca_file: Path | None = None
    """CA of the server, PEM; the system's CAs if not set."""
    cert_file: Path | None = None
    """Our own certificate, PEM, for servers that ask for one; goes with `key_file`."""
    key_file: Path | None = None
    """Its private key, PEM."""
    insecure_skip_verify: bool = False
    """Do not check the server's certificate. HTTP only, and for tests only."""

    @model_validator(mode="after")
    def _pair(self) -> Self:
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("cert_file and key_file go together; set both or none")
        return self


class OtlpDestinationConfig(ConfigPart):
    """An OTLP endpoint to send to. What is not set comes from `OTEL_EXPORTER_OTLP_*`."""

    endpoint: str | None = None
    """URL, such as http://tempo:4318 (HTTP) or http://tempo:4317 (gRPC); else OTEL_EXPORTER_OTLP_ENDPOINT."""
    protocol: Literal["http/protobuf", "grpc"] | None = None
    """Else OTEL_EXPORTER_OTLP_PROTOCOL; else gRPC for port 4317 and HTTP otherwise."""
    headers: dict[str, SecretStr] | None = None
    """Sent with every request, such as an API key; else OTEL_EXPORTER_OTLP_HEADERS."""
    compression: Literal["none", "gzip", "zstd"] | None = None
    """Of the requests sent; `zstd` over HTTP only. Else OTEL_EXPORTER_OTLP_COMPRESSION; else none."""
    timeout_s: Seconds | None = None
    """Bound of one try (seconds), 3600 at most. Else OTEL_EXPORTER_OTLP_TIMEOUT (milliseconds); else 10 s."""
    tls: TlsClientConfig | None = None
    """For `https` endpoints. Else OTEL_EXPORTER_OTLP_CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY."""


class RelayConfig(OtlpDestinationConfig):
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")] | None = None
    """Name of this destination in metrics and for its place in the journal; from the endpoint if not set."""
    signals: tuple[Literal["traces", "logs", "metrics"], ...] = ("traces", "logs", "metrics")
    """What to relay there. Signals that the endpoint has no address for are left out."""
    enrich: bool = False
    """Put the scores on the judged span itself: each turn's target span is held until they are in, then relayed with
    `gen_ai.evaluation.<name>.score.value`, `.score.label` and `.explanation` added; everything else passes at once."""
    enrich_deadline_s: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """With `enrich`: how long a span is held at most (seconds). Later scores go out as event and evaluation span."""
    enrich_max_bytes: Bytes = 64 << 20
    """With `enrich`: bound of what is held (bytes); above it the oldest spans go on without scores."""
    enrich_explanation: bool = True
    """With `enrich`: whether the judges' reasons, which may quote the conversation, are added too."""

    @model_validator(mode="after")
    def _enriches_traces(self) -> Self:
        if self.enrich and "traces" not in self.signals:
            raise ValueError("enrich puts scores on spans, and signals has no traces; add traces, or remove enrich")
        return self
