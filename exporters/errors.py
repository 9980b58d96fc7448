"""Errors of the exporters.

AdhereError
├── RetryableError
│   └── OutboxUnavailableError  the disk refused, or the outbox is closed
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
