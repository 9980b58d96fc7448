"""Which answer an error gets, on both transports, by the tables of the OTLP specification.

A retryable error is UNAVAILABLE with RetryInfo, or 503 with Retry-After. A permanent one never carries a hint to retry:
RESOURCE_EXHAUSTED without RetryInfo tells a client that its request is too large; DEADLINE_EXCEEDED without one is
retried by OTLP's clients in their own time. Errors that nobody foresaw say that
they are internal and nothing else, since their text may hold anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import grpc

from collector.errors import (
    MalformedRequestError,
    OwnRequestError,
    PermanentError,
    RequestTooLargeError,
    RetryableError,
    UnauthenticatedError,
    UnsupportedEncodingError,
)
from collector.otlp.refusals import (
    BadHttpError,
    HeadersTooLargeError,
    SlowRequestError,
    UnknownPathError,
    WrongMethodError,
)

_DEFAULT_RETRY_S = 1.0
_PERMANENT: tuple[tuple[type[PermanentError], grpc.StatusCode, int], ...] = (
    (MalformedRequestError, grpc.StatusCode.INVALID_ARGUMENT, 400),
    (BadHttpError, grpc.StatusCode.INVALID_ARGUMENT, 400),
    (RequestTooLargeError, grpc.StatusCode.RESOURCE_EXHAUSTED, 413),
    (UnsupportedEncodingError, grpc.StatusCode.INVALID_ARGUMENT, 415),
    (UnauthenticatedError, grpc.StatusCode.UNAUTHENTICATED, 401),
    (OwnRequestError, grpc.StatusCode.FAILED_PRECONDITION, 508),
    (UnknownPathError, grpc.StatusCode.UNIMPLEMENTED, 404),
    (WrongMethodError, grpc.StatusCode.UNIMPLEMENTED, 405),
    (SlowRequestError, grpc.StatusCode.DEADLINE_EXCEEDED, 408),
    (HeadersTooLargeError, grpc.StatusCode.INVALID_ARGUMENT, 431),
    (PermanentError, grpc.StatusCode.INVALID_ARGUMENT, 400),
)


@dataclass(frozen=True, slots=True)
class WireStatus:
    grpc_code: grpc.StatusCode
    http_status: int
    message: str
    retry_delay_s: float | None = None
    """For RetryInfo; None says never to send the request again."""

    @property
    def code(self) -> int:
        """The number of the gRPC code, as google.rpc.Status holds it."""
        number: int = self.grpc_code.value[0]
        return number

    @property
    def retry_after_s(self) -> int | None:
        """For Retry-After, which has whole seconds only."""
        return None if self.retry_delay_s is None else max(1, math.ceil(self.retry_delay_s))


def wire_status(error: BaseException) -> WireStatus:
    if isinstance(error, RetryableError):
        delay_s = _DEFAULT_RETRY_S if error.retry_after_s is None else error.retry_after_s
        return WireStatus(grpc.StatusCode.UNAVAILABLE, 503, str(error), retry_delay_s=max(0.0, delay_s))
    for kind, code, http_status in _PERMANENT:
        if isinstance(error, kind):
            return WireStatus(code, http_status, str(error))
    return WireStatus(grpc.StatusCode.INTERNAL, 500, "The receiver failed; see its log.")
