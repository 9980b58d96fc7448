"""What sends one OTLP request to one destination: the relay, the exporters and `adhere replay` all use it."""

from __future__ import annotations

from typing import Protocol

from collector.telemetry.records import Signal


class OtlpSender(Protocol):
    async def send(self, signal: Signal, body: bytes) -> None:
        """Deliver one Export*ServiceRequest (protobuf bytes). One try, bounded in time.

        Returns on success, partial success included (rejected items are counted and logged, never sent again, as the
        OTLP specification asks). Raises RetryableError (with `retry_after_s` where the server names one) or
        PermanentError.
        """

    async def close(self) -> None: ...
