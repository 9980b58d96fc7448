"""Errors of the exporters.

AdhereError
├── RetryableError
│   ├── OutboxUnavailableError  the disk refused, or the outbox is closed
│   └── TargetUnknownError      the destination does not know what the score belongs to, not yet perhaps
├── PermanentError
│   ├── OutboxVersionError      the outbox file was written by a newer release
│   └── ExporterConfigError     an exporter's options cannot work
└── PartialExportError      some verdicts of a batch were not delivered, the others were
"""

from __future__ import annotations

from collections.abc import Mapping

from collector.errors import AdhereError, PermanentError, RetryableError


class OutboxUnavailableError(RetryableError):
    pass


class TargetUnknownError(RetryableError):
    """A score can come before its span. It is tried again until the verdict has waited for `patience_s` seconds."""

    def __init__(self, message: str, *, patience_s: float, retry_after_s: float | None = None) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.patience_s = patience_s


class OutboxVersionError(PermanentError):
    pass


class ExporterConfigError(PermanentError):
    pass


class PartialExportError(AdhereError):
    """For destinations that take verdicts one by one: every verdict of the batch that is not named was delivered."""

    def __init__(self, message: str, *, failures: Mapping[str, RetryableError | PermanentError]) -> None:
        super().__init__(message)
        self.failures = failures
        """By verdict id."""
