"""What is said where a server cannot be reached."""

from __future__ import annotations

import contextlib
import errno
import socket
import ssl

import httpx2
import pytest
import trustme

from collector.unreachable import why_unreachable


def failed_handshake(*, with_tls: bool) -> ssl.SSLError:
    """A real one in memory, with a server whose certificate nobody knows, or one that does not speak TLS."""
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(serving)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(back, there, server_hostname="localhost")
    server = serving.wrap_bio(there, back, server_side=True)
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    if not with_tls:
        back.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    else:
        with contextlib.suppress(ssl.SSLWantReadError):
            server.do_handshake()
    with pytest.raises(ssl.SSLError) as caught:
        client.do_handshake()
    return caught.value


def behind(cause: BaseException) -> httpx2.ConnectError:
    """As clients keep a cause."""
    error = httpx2.ConnectError("All connection attempts failed")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (failed_handshake(with_tls=True), "its certificate is not trusted: unable to get local issuer certificate"),
        (failed_handshake(with_tls=False), "TLS failed: wrong version number"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (ExceptionGroup("one an address", [OSError(errno.EHOSTUNREACH, "...")]), "No route to host"),
        (ValueError("secret"), "ConnectError"),
    ],
    ids=["certificate", "no TLS", "name", "addresses", "unknown"],
)
def test_the_cause_is_named(cause: BaseException, said: str) -> None:
    assert why_unreachable(behind(cause)) == said


async def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]

    async with httpx2.AsyncClient(trust_env=False) as client:
        with pytest.raises(httpx2.ConnectError) as caught:
            await client.get(f"http://127.0.0.1:{port}")

    assert why_unreachable(caught.value) == "Connection refused"


def test_causes_that_lead_in_a_circle_are_given_up() -> None:
    one, other = ValueError("secret"), RuntimeError("secret")
    one.__context__, other.__context__ = other, one

    assert why_unreachable(one) == "ValueError"
