"""Load with unique ids, and an oracle that turns every acknowledgement into an obligation.

A producer sends one request at a time, over and over until it is acknowledged, as an exporter with an endless queue
would: it finds out where Adhere listens before each try, since that changes with a restart.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Self

import grpc
import grpc.aio
import httpx2
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from adhere.run.data_dir import Addresses
from tests.support.agent_telemetry import AgentTelemetry, trace_body, unrelated_span
from tests.support.otlp_grpc_listener import SERVICES

Transport = Literal["http", "grpc"]
_METHOD = f"/{next(iter(SERVICES.values()))}/Export"
_TRY_S = 15.0
_BETWEEN_TRIES_S = 0.02


@dataclass
class Oracle:
    attempted: set[bytes] = field(default_factory=set)
    """Bodies of which at least one byte may have left."""
    acked: dict[bytes, str | None] = field(default_factory=dict)
    """Bodies that were acknowledged, and the GenAI conversation in each."""
    retried: set[bytes] = field(default_factory=set)
    """Bodies that were sent more than once, and so may be in the journal more than once."""
    tries: int = 0
    cut: int = 0
    """Responses that began and did not end."""

    @property
    def conversations(self) -> set[str]:
        return {conversation for conversation in self.acked.values() if conversation is not None}


class Producer:
    def __init__(
        self,
        name: str,
        *,
        transport: Transport,
        oracle: Oracle,
        locate: Callable[[], Addresses | None],
        seed: int,
        spans: int = 25,
        conversation_every: int = 5,
        pause_s: float = 0.03,
    ) -> None:
        self._name = name
        self._transport = transport
        self._oracle = oracle
        self._locate = locate
        self._rng = random.Random(f"{seed}/{name}")
        self._spans = spans
        self._conversation_every = conversation_every
        self._pause_s = pause_s
        self._number = 0
        # A client each, as making one costs more than a request does.
        self._client: httpx2.AsyncClient | None = None
        self._channels: dict[str, grpc.aio.Channel] = {}

    async def __aenter__(self) -> Self:
        self._client = httpx2.AsyncClient(timeout=_TRY_S, trust_env=False, verify=False)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.aclose()
        for channel in self._channels.values():
            await channel.close()

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set and the request at hand is acknowledged."""
        while not stop.is_set():
            await self.send_one()
            await asyncio.sleep(self._rng.uniform(0, 2 * self._pause_s))

    async def send_one(self, *, with_conversation: bool = False) -> str | None:
        """The conversation in it, if one was sent."""
        self._number += 1
        chosen = with_conversation or self._number % self._conversation_every == 0
        conversation = f"{self._name}-{self._number}" if chosen else None
        body = self._body(conversation)
        self._oracle.attempted.add(body)
        while not await self._try(body):
            self._oracle.retried.add(body)
            await asyncio.sleep(_BETWEEN_TRIES_S)
        self._oracle.acked[body] = conversation
        return conversation

    def _body(self, conversation: str | None) -> bytes:
        trace = self._rng.randbytes(16)
        spans: list[Span] = [
            unrelated_span(trace, f"{self._name}/{self._number}/{index}") for index in range(self._spans)
        ]
        if conversation is not None:
            spans += AgentTelemetry(conversation_id=conversation, name=conversation).turn(f"order {conversation}")
        for span in spans:
            span.attributes.add(key="payload").value.string_value = self._rng.randbytes(20).hex()
        return trace_body(spans)

    async def _try(self, body: bytes) -> bool:
        addresses = self._locate()
        if addresses is None:
            return False
        self._oracle.tries += 1
        if self._transport == "http":
            return await self._post(f"http://{addresses.http}/v1/traces", body)
        return await self._call(str(addresses.grpc), body)

    async def _post(self, url: str, body: bytes) -> bool:
        assert self._client is not None
        begun = False
        headers = {"content-type": "application/x-protobuf"}
        try:
            async with self._client.stream("POST", url, content=body, headers=headers) as response:
                begun = True
                await response.aread()
        except httpx2.HTTPError:
            self._oracle.cut += begun
            return False
        return response.status_code == httpx2.codes.OK

    async def _call(self, target: str, body: bytes) -> bool:
        if target not in self._channels:
            self._channels[target] = grpc.aio.insecure_channel(target)
        try:
            await self._channels[target].unary_unary(_METHOD)(body, timeout=_TRY_S)
        except grpc.aio.AioRpcError:
            return False
        return True
