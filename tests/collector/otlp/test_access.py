"""TLS on both transports, and where a receiver may listen."""

from __future__ import annotations

import asyncio
import ssl

import grpc
import pytest
import structlog
import trustme

from collector.errors import PermanentError
from collector.otlp.access import InsecureBindError, check_bind
from collector.otlp.settings import GrpcReceiverSettings, HttpReceiverSettings, TlsSettings
from collector.otlp.tls import grpc_credentials, ssl_context
from tests.support.appender import CollectingAppender
from tests.support.otlp_requests import trace_request
from tests.support.raw_http import request
from tests.support.receivers import grpc_receiver, http_receiver

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


class Certificates:
    """A CA, the server's certificate and a client's, as PEM files."""

    def __init__(self, folder):
        self.ca = trustme.CA()
        server = self.ca.issue_cert("localhost", "127.0.0.1")
        self.client = self.ca.issue_cert("client@example.org")
        self.ca_file = folder / "ca.pem"
        self.ca.cert_pem.write_to_path(str(self.ca_file))
        server.private_key_pem.write_to_path(str(folder / "key.pem"))
        server.cert_chain_pems[0].write_to_path(str(folder / "cert.pem"))
        self.server = TlsSettings(cert_file=folder / "cert.pem", key_file=folder / "key.pem")
        self.mutual = TlsSettings(
            cert_file=folder / "cert.pem", key_file=folder / "key.pem", client_ca_file=self.ca_file
        )


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


async def _post(receiver, context):
    reader, writer = await asyncio.open_connection("127.0.0.1", receiver.port, ssl=context, server_hostname="localhost")
    try:
        writer.write(request("/v1/traces", trace_request()))
        return (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0]
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


def _client_context(certificates, *, with_certificate=False):
    context = ssl.create_default_context()
    certificates.ca.configure_trust(context)
    if with_certificate:
        certificates.client.configure_cert(context)
    return context


@pytest.mark.parametrize("load", [ssl_context, grpc_credentials])
def test_a_file_that_cannot_be_used_is_named(certificates, load):
    cert, key, none = certificates.server.cert_file, certificates.server.key_file, certificates.ca_file / "none.pem"

    with pytest.raises(PermanentError, match=r"none\.pem cannot be read: Not a directory"):
        load(TlsSettings(cert_file=cert, key_file=none))
    with pytest.raises(PermanentError, match=r"none\.pem cannot be read: Not a directory"):
        load(TlsSettings(cert_file=cert, key_file=key, client_ca_file=none))
    with pytest.raises(PermanentError, match=r"ca\.pem with .*key\.pem \(KEY_VALUES_MISMATCH\)"):
        load(TlsSettings(cert_file=certificates.ca_file, key_file=key))


async def test_http_over_tls(certificates):
    settings = HttpReceiverSettings(tls=certificates.server)

    async with http_receiver(CollectingAppender(), settings=settings) as receiver:
        assert await _post(receiver, _client_context(certificates)) == b"HTTP/1.1 200 OK"


async def test_http_over_old_tls_is_refused(certificates):
    context = _client_context(certificates)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    settings = HttpReceiverSettings(tls=certificates.server)
    unknown_ca = ssl.create_default_context()

    async with http_receiver(CollectingAppender(), settings=settings) as receiver:
        with pytest.raises(ssl.SSLError):
            await _post(receiver, unknown_ca)
        assert await _post(receiver, context) == b"HTTP/1.1 200 OK"


async def test_http_asks_for_a_client_certificate(certificates):
    appender, settings = CollectingAppender(), HttpReceiverSettings(tls=certificates.mutual)

    async with http_receiver(appender, settings=settings) as receiver:
        with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
            await _post(receiver, _client_context(certificates))
        assert appender.records == []
        assert await _post(receiver, _client_context(certificates, with_certificate=True)) == b"HTTP/1.1 200 OK"


@pytest.mark.parametrize("is_mutual", [False, True], ids=["tls", "mutual tls"])
async def test_grpc_over_tls(certificates, is_mutual):
    settings = GrpcReceiverSettings(tls=certificates.mutual if is_mutual else certificates.server)
    pair = {
        "private_key": certificates.client.private_key_pem.bytes(),
        "certificate_chain": certificates.client.cert_chain_pems[0].bytes(),
    }
    trust = certificates.ca_file.read_bytes()
    credentials = grpc.ssl_channel_credentials(trust, **pair) if is_mutual else grpc.ssl_channel_credentials(trust)

    async with grpc_receiver(CollectingAppender(), settings=settings) as receiver:
        async with grpc.aio.secure_channel(f"localhost:{receiver.port}", credentials) as channel:
            assert await channel.unary_unary(EXPORT)(trace_request()) == b""
        if is_mutual:
            stranger = grpc.ssl_channel_credentials(trust)
            async with grpc.aio.secure_channel(f"localhost:{receiver.port}", stranger) as channel:
                with pytest.raises(grpc.aio.AioRpcError):
                    await channel.unary_unary(EXPORT)(trace_request(), timeout=5)


@pytest.mark.parametrize("settings_type", [HttpReceiverSettings, GrpcReceiverSettings])
@pytest.mark.parametrize(
    ("host", "token", "is_open"),
    [
        ("127.0.0.1", None, False),
        ("127.1.2.3", None, False),
        ("::1", None, False),
        ("[::1]", None, False),
        ("localhost", None, False),
        ("0.0.0.0", None, True),
        ("::", None, True),
        ("10.0.0.5", None, True),
        ("", None, True),
        ("collector.example.org", None, True),
        ("0.0.0.0", "token", False),
    ],
)
def test_only_loopback_is_open_to_everyone(settings_type, host, token, is_open):
    with structlog.testing.capture_logs() as logs:
        check_bind(settings_type(host=host, bearer_token=token), transport="test")

    assert [entry["event"] for entry in logs] == ["receiver is open to the network"] * is_open
    if is_open:
        with pytest.raises(InsecureBindError, match="must not listen"):
            check_bind(settings_type(host=host, strict_bind=True), transport="test")


def test_tls_is_protection_enough(certificates):
    check_bind(HttpReceiverSettings(host="0.0.0.0", tls=certificates.server, strict_bind=True), transport="http")


def test_a_token_does_not_show_in_the_settings():
    assert "hush" not in repr(HttpReceiverSettings(bearer_token="hush"))
