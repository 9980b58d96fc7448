"""Sends verdicts over OTLP as one signal: an exporter for events, another one for spans.

Each is a destination of its own in the outbox, since a backend that takes only one of the signals (Tempo takes no logs)
must not keep the other from arriving.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from collector.relay.sender import OtlpSender
from collector.telemetry.records import Signal
from evaluators.verdict import Verdict
from exporters.otlp.event import logs_request
from exporters.otlp.span import has_target, traces_request


class _Request(Protocol):
    def SerializeToString(self, *, deterministic: bool = ...) -> bytes: ...  # noqa: N802 - protobuf's name


class OtlpVerdictExporter:
    def __init__(
        self,
        name: str,
        *,
        sender: OtlpSender,
        signal: Signal,
        build: Callable[[Sequence[Verdict]], _Request | None],
    ) -> None:
        """`build` gives None where there is nothing to send. The exporter closes the sender."""
        self.name = name
        self._sender = sender
        self._signal = signal
        self._build = build

    async def export(self, verdicts: Sequence[Verdict]) -> None:
        request = self._build(verdicts)
        if request is not None:
            await self._sender.send(self._signal, request.SerializeToString(deterministic=True))

    async def close(self) -> None:
        await self._sender.close()


def event_exporter(name: str, *, sender: OtlpSender, version: str, content: bool = True) -> OtlpVerdictExporter:
    return OtlpVerdictExporter(
        name,
        sender=sender,
        signal=Signal.LOGS,
        build=lambda verdicts: logs_request(verdicts, version=version, content=content),
    )


def span_exporter(name: str, *, sender: OtlpSender, version: str, content: bool = True) -> OtlpVerdictExporter:
    def build(verdicts: Sequence[Verdict]) -> _Request | None:
        targeted = [verdict for verdict in verdicts if has_target(verdict)]
        return traces_request(targeted, version=version, content=content) if targeted else None

    return OtlpVerdictExporter(name, sender=sender, signal=Signal.TRACES, build=build)
