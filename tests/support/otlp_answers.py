"""What a scripted OTLP receiver answers: the vocabulary of `OtlpSink.script` and `OtlpSink.default`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse


@dataclass(frozen=True, slots=True)
class Accept:
    """Success; a partial success as soon as something is rejected or there is a message."""

    rejected: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class Refuse:
    """An error answer, in each transport's own words; the request counts as not accepted."""

    http_status: int = 503
    grpc_code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    message: str = ""
    """In the google.rpc.Status body over HTTP, in the status details over gRPC."""
    retry_after: str | None = None
    """HTTP only: the header's value as it stands, seconds or a date."""
    retry_info_s: float | None = None
    """gRPC only: the delay of a google.rpc.RetryInfo."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """HTTP only: further response headers, e.g. `location`."""
    body: bytes | None = None
    """HTTP only: instead of the Status body."""


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer until `OtlpSink.release()`; then the request is accepted."""


@dataclass(frozen=True, slots=True)
class Disconnect:
    """The connection is cut without an answer.

    One call cannot cut a gRPC connection that it shares with others: there the call ends as UNAVAILABLE, which is what
    a client sees of a cut connection.
    """

    stored: bool = False
    """True: the receiver kept the request, and only the answer got lost."""


Answer: TypeAlias = Accept | Refuse | Hang | Disconnect


def export_response(answer: Accept | Hang) -> bytes:
    """The Export*ServiceResponse; field numbers and types are the same in the three signals' responses."""
    response = ExportTraceServiceResponse()
    if isinstance(answer, Accept) and (answer.rejected or answer.message):
        response.partial_success.rejected_spans = answer.rejected
        response.partial_success.error_message = answer.message
    return response.SerializeToString()
