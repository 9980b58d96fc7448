"""The HTTP half of `OtlpSink`: HTTP/1.1 with keep-alive, `/v1/<signal>`, protobuf only, gzip, zstd or plain."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import h11
import zstandard
from google.rpc.status_pb2 import Status

from collector.telemetry.records import Signal
from tests.support.otlp_answers import Accept, Answer, Disconnect, Hang, Refuse, export_response

if TYPE_CHECKING:
    from tests.support.otlp_sink import OtlpSink, ServerTls

PROTOBUF = "application/x-protobuf"


class HttpListener:
    def __init__(self, sink: OtlpSink, *, port: int, tls: ServerTls | None) -> None:
        self.port = port
        self._sink = sink
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        context = None if self._tls is None else _ssl_context(self._tls)
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is None:
            return
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._answer_all(reader, writer)
        except (ConnectionError, h11.RemoteProtocolError, asyncio.CancelledError):
            pass  # The client's way to leave, or our closing: either way there is no one to tell.
        finally:
            writer.transport.abort()
            self._connections.discard(task)

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER)
        while True:
            request, body = None, bytearray()
            while True:
                event = connection.next_event()
                if event is h11.NEED_DATA:
                    if connection.they_are_waiting_for_100_continue:
                        go_on = h11.InformationalResponse(status_code=100, headers=[])
                        writer.write(connection.send(go_on))
                    connection.receive_data(await reader.read(1 << 16))
                elif isinstance(event, h11.Request):
                    request = event
                elif isinstance(event, h11.Data):
                    body += event.data
                elif isinstance(event, h11.EndOfMessage):
                    break
                else:
                    return
            assert request is not None
            status, headers, content = await self._respond(request, bytes(body))
            if status == 0:
                return
            headers = {"content-length": str(len(content)), **headers}
            writer.write(connection.send(h11.Response(status_code=status, headers=list(headers.items()))))
            writer.write(connection.send(h11.Data(data=content)))
            writer.write(connection.send(h11.EndOfMessage()))
            await writer.drain()
            if connection.our_state is h11.MUST_CLOSE:
                return
            connection.start_next_cycle()

    async def _respond(self, request: h11.Request, raw: bytes) -> tuple[int, dict[str, str], bytes]:
        path = request.target.decode()
        headers = {name.decode().lower(): value.decode() for name, value in request.headers}
        signal = next((signal for signal in Signal if path.split("?")[0].endswith(f"/v1/{signal}")), None)
        if signal is None or request.method != b"POST":
            return 404, {}, b""
        if headers.get("content-type") != PROTOBUF:
            return 415, {}, b""
        match headers.get("content-encoding", "identity"):
            case "gzip":
                body = gzip.decompress(raw)
            case "zstd":
                body = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
            case _:
                body = raw
        answer = await self._sink.receive(
            signal=signal, transport="http", path=path, headers=headers, body=body, wire_bytes=len(raw)
        )
        return _response(answer)


def _response(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body; status 0 stands for a cut connection."""
    headers = {"content-type": PROTOBUF}
    match answer:
        case Accept() | Hang():
            return 200, headers, export_response(answer)
        case Refuse():
            headers.update(answer.headers)
            if answer.retry_after is not None:
                headers["retry-after"] = answer.retry_after
            status = Status(message=answer.message).SerializeToString()
            return answer.http_status, headers, status if answer.body is None else answer.body
        case Disconnect():
            return 0, {}, b""


def _ssl_context(tls: ServerTls) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with tempfile.TemporaryDirectory() as folder:
        pem = Path(folder, "server.pem")
        pem.write_bytes(tls.key + b"\n" + tls.certificate)
        context.load_cert_chain(pem)
    if tls.client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=tls.client_ca.decode())
    return context
