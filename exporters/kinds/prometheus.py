"""`prometheus`: scores on `/metrics`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field

from exporters.exporter import Exporter
from exporters.prometheus import PrometheusExporter
from exporters.registry import ExporterContext, ExporterKind, ExporterOptions


class PrometheusOptions(ExporterOptions):
    max_series: Annotated[int, Field(ge=1, le=100_000)] = 500
    """Bound of service x agent x version x evaluator x model; what is over it is counted under `other`."""


def _build(name: str, options: PrometheusOptions, context: ExporterContext) -> Sequence[Exporter]:
    return [PrometheusExporter(context.registry, clock=context.clock, name=name, max_series=options.max_series)]


KIND: Final = ExporterKind(PrometheusOptions, _build)
