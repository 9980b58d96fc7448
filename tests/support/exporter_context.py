"""What the application lends to exporters, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prometheus_client import CollectorRegistry

from collector.clock import Clock
from exporters.metrics import ExportMetrics
from exporters.registry import ExporterContext
from tests.support.clock import ManualClock


def exporter_context(
    folder: Path, *, clock: Clock | None = None, environ: Mapping[str, str] | None = None
) -> ExporterContext:
    registry = CollectorRegistry()
    return ExporterContext(
        clock=clock or ManualClock(),
        registry=registry,
        metrics=ExportMetrics(registry),
        data_dir=folder,
        environ=environ or {},
        version="1.2.3",
        instance_id="host-1",
    )
