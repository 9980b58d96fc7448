"""`otlp`: scores as events, spans and metrics to any OTLP endpoint.

Each signal is a destination of its own: `otlp/events`, `otlp/spans`, `otlp/metrics`. What is not set comes from
`OTEL_EXPORTER_OTLP_*`, also where that names an address for single signals only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from collector.relay.destination import ClientTls, Destination, DestinationError
from collector.relay.environment import destination_from_environment
from collector.relay.sender import OtlpSender
from collector.relay.senders import open_sender
from collector.telemetry.records import Signal
from exporters.errors import ExporterConfigError
from exporters.exporter import Exporter
from exporters.otlp.exporter import event_exporter, span_exporter
from exporters.otlp.metric_exporter import OtlpMetricExporter
from exporters.registry import ExporterContext, ExporterKind, ExporterOptions

Seconds = Annotated[float, Field(gt=0, le=3600)]


class OtlpTlsOptions(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, hide_input_in_errors=True)

    ca_file: Path | None = None
    """CA of the server, PEM; the system's CAs if not set."""
    cert_file: Path | None = None
    """Our own certificate, PEM, for servers that ask for one; goes with `key_file`."""
    key_file: Path | None = None
    """Its private key, PEM."""
    insecure_skip_verify: bool = False
    """Do not check the server's certificate. HTTP only, and for tests only."""


class OtlpOptions(ExporterOptions):
    endpoint: str | None = None
    """URL, such as http://tempo:4318 (HTTP) or http://tempo:4317 (gRPC); else OTEL_EXPORTER_OTLP_ENDPOINT."""
    protocol: Literal["http/protobuf", "grpc"] | None = None
    """Else OTEL_EXPORTER_OTLP_PROTOCOL; else gRPC for port 4317 and HTTP otherwise."""
    headers: dict[str, SecretStr] | None = None
    """Sent with every request, such as an API key; else OTEL_EXPORTER_OTLP_HEADERS."""
    compression: Literal["none", "gzip", "zstd"] | None = None
    """Of the requests sent; `zstd` over HTTP only. Else OTEL_EXPORTER_OTLP_COMPRESSION; else none."""
    timeout_s: Seconds | None = None
    """Bound of one try (seconds). Else OTEL_EXPORTER_OTLP_TIMEOUT (milliseconds); else 10 s."""
    tls: OtlpTlsOptions | None = None
    """For `https` endpoints. Else OTEL_EXPORTER_OTLP_CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY."""
    events: bool = True
    """Send `gen_ai.evaluation.result` events (logs)."""
    spans: bool = True
    """Send evaluation spans (traces)."""
    metrics: bool = True
    """Push metrics."""
    content: bool = True
    """Send the explanation and the evidence, which may quote the conversation."""
    metrics_interval_s: Seconds = 60.0
    """Time between two pushes of metrics (seconds)."""
    metrics_temporality: Literal["cumulative", "delta"] = "cumulative"
    """Whether a push holds the totals since the start, or what came since the push before."""
    max_series: Annotated[int, Field(ge=1, le=100_000)] = 500
    """Bound of service x agent x version x evaluator x model; what is over it is counted under `other`."""

    @model_validator(mode="after")
    def _sends_something(self) -> Self:
        if not (self.events or self.spans or self.metrics):
            raise ValueError("events, spans and metrics are all off, so nothing would be sent; enable one")
        return self


def _build(name: str, options: OtlpOptions, context: ExporterContext) -> Sequence[Exporter]:
    try:
        destination = _destination(name, options, context.environ)
        if context.sender_id is not None:
            destination = destination.sent_by(context.sender_id)
    except DestinationError as err:
        raise ExporterConfigError(f"The exporter {name!r} cannot work: {err}") from err
    chosen: list[tuple[str, Signal, bool, Callable[[str, OtlpSender], Exporter]]] = [
        ("events", Signal.LOGS, options.events, _events(options, context)),
        ("spans", Signal.TRACES, options.spans, _spans(options, context)),
        ("metrics", Signal.METRICS, options.metrics, _metrics(options, context)),
    ]
    exporters: list[Exporter] = []
    for part, signal, is_on, build in chosen:
        if is_on and signal in destination.signals:
            full_name = f"{name}/{part}"
            exporters.append(build(full_name, _sender(full_name, destination, context)))
    return exporters


def _destination(name: str, options: OtlpOptions, environ: Mapping[str, str]) -> Destination:
    found = destination_from_environment(environ, endpoint=options.endpoint, protocol=options.protocol, name=name)
    if found is None:
        raise ExporterConfigError(
            f"The exporter {name!r} needs an address; set endpoint, or OTEL_EXPORTER_OTLP_ENDPOINT."
        )
    set_here: dict[str, Any] = {
        "headers": {key: value.get_secret_value() for key, value in (options.headers or {}).items()} or None,
        "compression": options.compression,
        "timeout_s": options.timeout_s,
        "tls": ClientTls(**options.tls.model_dump()) if options.tls is not None else None,
    }
    return dataclasses.replace(found, **{key: value for key, value in set_here.items() if value is not None})


def _sender(name: str, destination: Destination, context: ExporterContext) -> OtlpSender:
    rejected = context.metrics.rejected.labels(name)
    return open_sender(destination, clock=context.clock, on_rejected=lambda _, count: rejected.inc(count))


def _events(options: OtlpOptions, context: ExporterContext) -> Callable[[str, OtlpSender], Exporter]:
    return lambda name, sender: event_exporter(name, sender=sender, version=context.version, content=options.content)


def _spans(options: OtlpOptions, context: ExporterContext) -> Callable[[str, OtlpSender], Exporter]:
    return lambda name, sender: span_exporter(name, sender=sender, version=context.version, content=options.content)


def _metrics(options: OtlpOptions, context: ExporterContext) -> Callable[[str, OtlpSender], Exporter]:
    return lambda name, sender: OtlpMetricExporter(
        name,
        sender=sender,
        clock=context.clock,
        version=context.version,
        instance_id=context.instance_id,
        failures=context.metrics.push_failures,
        delta=options.metrics_temporality == "delta",
        interval_s=options.metrics_interval_s,
        max_series=options.max_series,
    )


KIND: Final = ExporterKind(OtlpOptions, _build)
