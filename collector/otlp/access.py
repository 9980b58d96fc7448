"""Who may send: the bearer token, and the addresses that a receiver may listen on without one."""

from __future__ import annotations

import hmac
import ipaddress

import structlog

from collector.errors import AdhereError, UnauthenticatedError
from collector.otlp.settings import GrpcReceiverSettings, HttpReceiverSettings

log = structlog.get_logger(__name__)


class InsecureBindError(AdhereError):
    """A receiver was to listen beyond this machine with neither token nor TLS."""


class BearerCheck:
    """Compares in constant time. Without a token everyone passes."""

    def __init__(self, token: str | None) -> None:
        self._expected = None if token is None else token.encode()

    def check(self, authorization: bytes | None) -> None:
        """Raise UnauthenticatedError unless the header's value carries the token."""
        if self._expected is None:
            return
        scheme, _, token = (authorization or b"").strip().partition(b" ")
        is_equal = hmac.compare_digest(token.strip(), self._expected)
        if scheme.lower() != b"bearer" or not is_equal:
            raise UnauthenticatedError("The bearer token is missing or wrong; send the receiver's token.")


def check_bind(settings: HttpReceiverSettings | GrpcReceiverSettings, *, transport: str) -> None:
    """Warn, or with `strict_bind` raise InsecureBindError, where anyone who reaches the port could send."""
    if _is_loopback(settings.host) or settings.bearer_token is not None or settings.tls is not None:
        return
    if settings.strict_bind:
        raise InsecureBindError(
            f"The {transport} receiver must not listen on {settings.host} without a bearer token or TLS; "
            "set one of them or listen on 127.0.0.1."
        )
    log.warning("receiver is open to the network", transport=transport, host=settings.host, fix="set a token or tls")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
