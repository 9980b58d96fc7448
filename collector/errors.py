"""Errors of the collector.

    AdhereError
    ├── RetryableError          the same request may succeed later
    │   ├── JournalFullError        the journal's bound in bytes is reached
    │   ├── JournalUnavailableError the disk refused the write, or the journal is closing
    │   └── OverloadedError         a cap on connections, requests or bytes in flight is reached
    └── PermanentError          the same request will fail again
        ├── MalformedRequestError   it does not decode as what it says it is
        ├── RequestTooLargeError    over the limit, before or after decompression
        ├── UnsupportedEncodingError unknown content type or content encoding
        ├── UnauthenticatedError    missing or wrong credentials
        └── OwnRequestError         this Adhere sent it itself

Which wire status each becomes is decided in one place, `collector.otlp.status`.
"""

from __future__ import annotations


class AdhereError(Exception):
    """Root of every error that Adhere raises on purpose."""


class RetryableError(AdhereError):
    """The same request may succeed later; `retry_after_s` is a hint in seconds."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class PermanentError(AdhereError):
    """The same request will fail again."""


class JournalFullError(RetryableError):
    pass


class JournalUnavailableError(RetryableError):
    pass


class OverloadedError(RetryableError):
    pass


class MalformedRequestError(PermanentError):
    pass


class RequestTooLargeError(PermanentError):
    pass


class UnsupportedEncodingError(PermanentError):
    pass


class UnauthenticatedError(PermanentError):
    pass


class OwnRequestError(PermanentError):
    pass
