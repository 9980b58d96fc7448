"""Why a server could not be reached, in the system's own few words.

Clients of HTTP say that connecting failed and keep the cause behind it; whoever is on call needs to know whether it is
the name, the port or the certificate. Only fixed words are repeated, never what was sent.
"""

from __future__ import annotations

import errno
import os
import socket
import ssl

_MAX_CAUSES = 8


def why_unreachable(error: BaseException) -> str:
    """Of the cause that says most, else the kind of the error itself."""
    cause: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if cause is None:
            break
        if isinstance(cause, BaseExceptionGroup):  # One for each address of a name.
            cause = cause.exceptions[0]
        if said := _said(cause):
            return said
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__


def _said(cause: BaseException) -> str | None:
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {cause.verify_message.rstrip('.')}"
    if isinstance(cause, ssl.SSLError):
        return f"TLS failed: {(cause.reason or 'unknown').lower().replace('_', ' ')}"
    if isinstance(cause, socket.gaierror):
        return cause.strerror
    if isinstance(cause, OSError) and cause.errno is not None and cause.errno in errno.errorcode:
        return os.strerror(cause.errno)
    return None
