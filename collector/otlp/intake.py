"""From a request's body to its place on disk: what both receivers do with a request once it is complete.

Decompress within bounds, turn JSON into protobuf, refuse what is no OTLP, append to the journal, and only then return.
Nothing is read beyond that: the journal's readers do the rest. Work that takes more than about a millisecond runs in a
thread, one or two at a time.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum

from collector.clock import Clock
from collector.errors import RequestTooLargeError
from collector.journal.protocol import Appender
from collector.otlp.admission import Admission, Ticket
from collector.otlp.inflate import ContentEncoding, inflate
from collector.otlp.metrics import ReceiverMetrics
from collector.otlp.settings import ReceiverLimits
from collector.telemetry import density
from collector.telemetry.json_decode import json_to_protobuf
from collector.telemetry.records import Signal
from collector.telemetry.validate import validate

_INLINE_COMPRESSED_BYTES = 64 << 10
_INLINE_INFLATED_BYTES = 512 << 10
_INLINE_JSON_BYTES = 16 << 10
_INLINE_PROTOBUF_BYTES = 1 << 20


class MediaType(StrEnum):
    PROTOBUF = "application/x-protobuf"
    JSON = "application/json"


class Intake:
    """One for all receivers of a process."""

    def __init__(self, appender: Appender, *, limits: ReceiverLimits, metrics: ReceiverMetrics, clock: Clock) -> None:
        self.limits = limits
        self.metrics = metrics
        self.clock = clock
        self.admission = Admission(limits)
        metrics.watch(self.admission)
        self._appender = appender
        self._inflating = asyncio.Semaphore(2)
        # One at a time: what big JSON makes in memory is many times its size.
        self._converting = asyncio.Semaphore(1)

    async def take(
        self,
        signal: Signal,
        body: bytes,
        *,
        ticket: Ticket,
        transport: str,
        media: MediaType = MediaType.PROTOBUF,
        encoding: ContentEncoding = ContentEncoding.IDENTITY,
    ) -> None:
        """Return once the request is on disk; raise what `collector.otlp.status` turns into an answer."""
        started_s = self.clock.monotonic_s()
        if encoding is not ContentEncoding.IDENTITY:
            body = await self._inflate(body, encoding)
            ticket.resize(len(body))
        if media is MediaType.JSON and body:
            body = await self._from_json(signal, body)
            ticket.resize(len(body))
        items = await self._validate(signal, body)
        if items:
            await self._appender.append(signal, body)
        seconds = self.clock.monotonic_s() - started_s
        self.metrics.count_accepted(transport, signal, items=items, size=len(body), seconds=seconds)

    async def _inflate(self, data: bytes, encoding: ContentEncoding) -> bytes:
        max_bytes = self.limits.max_request_bytes
        if len(data) <= _INLINE_COMPRESSED_BYTES:
            try:
                return inflate(data, encoding, max_bytes=min(max_bytes, _INLINE_INFLATED_BYTES))
            except RequestTooLargeError:
                if max_bytes <= _INLINE_INFLATED_BYTES:
                    raise
        async with self._inflating:
            return await asyncio.to_thread(inflate, data, encoding, max_bytes=max_bytes)

    async def _from_json(self, signal: Signal, text: bytes) -> bytes:
        density.check_json(text)
        if len(text) <= _INLINE_JSON_BYTES:
            return json_to_protobuf(signal, text)
        async with self._converting:
            return await asyncio.to_thread(json_to_protobuf, signal, text)

    async def _validate(self, signal: Signal, body: bytes) -> int:
        density.check_protobuf(signal, body)
        if len(body) <= _INLINE_PROTOBUF_BYTES:
            return validate(signal, body)
        async with self._converting:
            return await asyncio.to_thread(validate, signal, body)
