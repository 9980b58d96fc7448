"""Refusals that only the HTTP receiver knows; they end in `collector.otlp.status` like all others."""

from __future__ import annotations

from collector.errors import PermanentError


class BadHttpError(PermanentError):
    """What arrived is no HTTP/1.1 request."""


class UnknownPathError(PermanentError):
    pass


class WrongMethodError(PermanentError):
    pass


class HeadersTooLargeError(PermanentError):
    pass


class SlowRequestError(PermanentError):
    """Headers or body did not arrive in time."""
