"""The exporters of the configuration: what the application lends to them, and whether each can be made."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from prometheus_client import CollectorRegistry

from adhere.config.model import Config
from adhere.errors import ConfigError
from collector.clock import Clock
from exporters.errors import ExporterConfigError
from exporters.metrics import ExportMetrics
from exporters.registry import ExporterContext, build_exporters


def exporter_context(
    data_dir: Path,
    *,
    clock: Clock,
    registry: CollectorRegistry,
    metrics: ExportMetrics,
    environ: Mapping[str, str],
    sender_id: str | None = None,
) -> ExporterContext:
    return ExporterContext(
        clock=clock,
        registry=registry,
        metrics=metrics,
        data_dir=data_dir,
        environ=environ,
        version=version("adhere"),
        instance_id=str(uuid.uuid4()),
        sender_id=sender_id,
    )


async def check_exporters(config: Config, *, clock: Clock, environ: Mapping[str, str]) -> None:
    """Make each once and close it, which opens no connection: finds what the options alone do not show, such as an
    address that is nowhere. Raises ConfigError with every problem.
    """
    registry = CollectorRegistry()
    context = exporter_context(
        config.data_dir, clock=clock, registry=registry, metrics=ExportMetrics(registry), environ=environ
    )
    problems: list[str] = []
    for entry in config.exporters:
        try:
            made = build_exporters(entry.name, entry.options, context=context)
        except ExporterConfigError as err:
            problems.append(str(err))
            continue
        for exporter in made:
            await exporter.close()
    if problems:
        raise ConfigError(problems)
