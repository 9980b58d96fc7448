"""Receivers on free loopback ports, around an appender of the test's choice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from prometheus_client import CollectorRegistry

from collector.clock import Clock, SystemClock
from collector.journal.protocol import Appender
from collector.otlp.grpc import GrpcReceiver
from collector.otlp.http import HttpReceiver
from collector.otlp.intake import Intake
from collector.otlp.metrics import ReceiverMetrics
from collector.otlp.settings import GrpcReceiverSettings, HttpReceiverSettings, ReceiverLimits


def intake_for(
    appender: Appender,
    *,
    limits: ReceiverLimits | None = None,
    clock: Clock | None = None,
    registry: CollectorRegistry | None = None,
) -> Intake:
    return Intake(
        appender,
        limits=limits or ReceiverLimits(),
        metrics=ReceiverMetrics(registry or CollectorRegistry()),
        clock=clock or SystemClock(),
    )


@asynccontextmanager
async def http_receiver(
    appender: Appender,
    *,
    settings: HttpReceiverSettings | None = None,
    limits: ReceiverLimits | None = None,
    clock: Clock | None = None,
    registry: CollectorRegistry | None = None,
) -> AsyncIterator[HttpReceiver]:
    intake = intake_for(appender, limits=limits, clock=clock, registry=registry)
    receiver = HttpReceiver(replace(settings or HttpReceiverSettings(), port=0), intake=intake)
    await receiver.start()
    try:
        yield receiver
    finally:
        await receiver.shutdown(5)


@asynccontextmanager
async def grpc_receiver(
    appender: Appender,
    *,
    settings: GrpcReceiverSettings | None = None,
    limits: ReceiverLimits | None = None,
    registry: CollectorRegistry | None = None,
) -> AsyncIterator[GrpcReceiver]:
    intake = intake_for(appender, limits=limits, registry=registry)
    receiver = GrpcReceiver(replace(settings or GrpcReceiverSettings(), port=0), intake=intake)
    await receiver.start()
    try:
        yield receiver
    finally:
        await receiver.shutdown(5)
