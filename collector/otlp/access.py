"""Who may send: who has the bearer token, but not ourselves; and the addresses to listen on without a token."""

from __future__ import annotations

import hmac
import ipaddress

import structlog

from collector.errors import AdhereError, OwnRequestError, UnauthenticatedError
from collector.otlp.settings import GrpcReceiverSettings, HttpReceiverSettings

log = structlog.get_logger(__name__)


class InsecureBindError(AdhereError):
    """A receiver was to listen beyond this machine with neither token nor TLS."""


class CallerCheck:
    """Compares tokens in constant time. Without a token everyone else passes."""

    def __init__(self, settings: HttpReceiverSettings | GrpcReceiverSettings) -> None:
        self._expected = None if settings.bearer_token is None else settings.bearer_token.encode()
        self._own_id = None if settings.sender_id is None else settings.sender_id.encode()

    def check(self, *, authorization: bytes | None, sender: bytes | None) -> None:
        """Of two headers, the values. Raises UnauthenticatedError without the token, OwnRequestError for our own id."""
        self._check_token(authorization)
        if self._own_id is not None and sender == self._own_id:
            raise OwnRequestError(
                "This request comes from this very Adhere; give its relay and its exporters the address of a backend."
            )

    def _check_token(self, authorization: bytes | None) -> None:
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
