"""A scripted judge behind an OpenAI-compatible API, over real HTTP on loopback.

It runs in a thread with its own loop, so that sync and async tests and other processes can all use it:

    with JudgeServer(always(answer({...}))) as server:
        ... server.base_url ... server.calls

From the command line: `python -m tests.support.judge_server --port 8099 --script honest`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import Reply, Script

_MAX_HEAD_BYTES = 64 * 1024
_PHRASES = {200: "OK", 302: "Found", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests"}


class JudgeServer:
    def __init__(self, script: Script, *, port: int = 0, model: str = "scripted-judge") -> None:
        self.script = script
        """May be replaced while the server runs."""
        self.model = model
        self.calls: list[JudgeCall] = []
        self.in_flight_peak = 0
        self._port = port
        self._in_flight = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._stopping: asyncio.Event | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name="judge-server", daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def in_flight(self) -> int:
        return self._in_flight

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stopping = self._stopping
        if stopping is not None:
            self._loop.call_soon_threadsafe(stopping.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        except OSError as err:
            self._failure = err
        finally:
            self._ready.set()
            self._loop.close()

    async def _serve(self) -> None:
        self._stopping = asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", self._port, limit=_MAX_HEAD_BYTES)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # The client went away, or the server stops: both end the connection, and nothing else.
        finally:
            self._connections.discard(task)
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        call = JudgeCall(len(self.calls), head[0].split(" ")[1], headers, json.loads(body) if body else {})
        self.calls.append(call)
        self._in_flight += 1
        self.in_flight_peak = max(self.in_flight_peak, self._in_flight)
        try:
            reply = self.script(call)
            await asyncio.sleep(reply.latency_s)
            if reply.action == "hang":
                await reader.read()  # Until the client gives up.
        finally:
            self._in_flight -= 1
        if reply.action != "answer":
            return False
        payload = reply.body if reply.body is not None else self._completion(call, reply)
        writer.write(_head(reply, len(payload)) + payload)
        await writer.drain()
        return True

    def _completion(self, call: JudgeCall, reply: Reply) -> bytes:
        content = reply.content or ""
        completion: dict[str, Any] = {
            "id": f"chatcmpl-{call.number}",
            "object": "chat.completion",
            "created": 1_800_000_000,
            "model": call.body.get("model", self.model),
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": reply.content, "refusal": reply.refusal},
                    "finish_reason": reply.finish_reason,
                }
            ],
        }
        if reply.usage:
            prompt, output = call.prompt_tokens, len(content.encode(errors="surrogatepass")) // 4
            completion["usage"] = {
                "prompt_tokens": prompt,
                "completion_tokens": output,
                "total_tokens": prompt + output,
                "prompt_tokens_details": {"cached_tokens": min(prompt, reply.cached_tokens)},
            }
        return json.dumps(completion).encode()  # Escaped, so that lone surrogates in scripts survive the wire.


def _head(reply: Reply, length: int) -> bytes:
    headers: Mapping[str, str] = {
        "content-type": "application/json",
        "content-length": str(length),
        **reply.headers,
    }
    lines = [f"HTTP/1.1 {reply.status} {_PHRASES.get(reply.status, 'Scripted')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def main() -> None:
    from tests.support.judge_scripts import SCRIPTS

    parser = argparse.ArgumentParser(description="A scripted judge behind an OpenAI-compatible API on loopback.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port, which is printed")
    parser.add_argument("--script", choices=sorted(SCRIPTS), default="honest")
    options = parser.parse_args()
    with JudgeServer(SCRIPTS[options.script], port=options.port) as server:
        print(server.base_url, flush=True)  # noqa: T201 - a command line that says where it listens.
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
