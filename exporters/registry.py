"""Exporters by name: built-in ones, and those of other packages under the entry-point group `adhere.exporters`.

An entry point names an `ExporterKind`. A kind is imported when its name is configured, not before; one that cannot be
imported is named in the error and takes no other with it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Generic, TypeVar

from prometheus_client import CollectorRegistry
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from collector.clock import Clock
from evaluators.wrong_options import sentences
from exporters.errors import ExporterConfigError
from exporters.exporter import Exporter
from exporters.metrics import ExportMetrics

GROUP: Final = "adhere.exporters"
_BUILT_IN: Final = MappingProxyType(
    {
        "azure": "exporters.kinds.azure",
        "braintrust": "exporters.kinds.braintrust",
        "csv": "exporters.kinds.csv",
        "datadog": "exporters.kinds.datadog",
        "grafana": "exporters.kinds.grafana",
        "jsonl": "exporters.kinds.jsonl",
        "langfuse": "exporters.kinds.langfuse",
        "langsmith": "exporters.kinds.langsmith",
        "logfire": "exporters.kinds.logfire",
        "mlflow": "exporters.kinds.mlflow",
        "opik": "exporters.kinds.opik",
        "otlp": "exporters.kinds.otlp",
        "phoenix": "exporters.kinds.phoenix",
        "prometheus": "exporters.kinds.prometheus",
        "weave": "exporters.kinds.weave",
        "webhook": "exporters.kinds.webhook",
    }
)


class ExporterOptions(BaseModel):
    """What every kind of exporter takes; kinds add their own."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, validate_default=True, hide_input_in_errors=True
    )

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")] | None = None
    """Names the destination in metrics, logs and the outbox; needed where one kind is configured twice."""


OptionsT = TypeVar("OptionsT", bound=ExporterOptions)


@dataclass(frozen=True, slots=True)
class ExporterContext:
    """What the application lends to exporters."""

    clock: Clock
    registry: CollectorRegistry
    metrics: ExportMetrics
    data_dir: Path
    environ: Mapping[str, str]
    version: str
    """Of Adhere; the scope version of what is sent."""
    instance_id: str
    """Keeps the sums of several Adhere processes apart."""
    sender_id: str | None = None
    """Goes with every OTLP request, so that Adhere's own receivers know it; None where nothing is sent in earnest."""


@dataclass(frozen=True, slots=True)
class ExporterKind(Generic[OptionsT]):
    options: type[OptionsT]
    build: Callable[[str, OptionsT, ExporterContext], Sequence[Exporter]]
    """From the name, the options and the context; one entry may give several destinations. Opens no connection."""


def known_exporters() -> Sequence[str]:
    return sorted({*_BUILT_IN, *(point.name for point in entry_points(group=GROUP))})


def check_exporter(kind: str, options: Mapping[str, Any]) -> None:
    """Raises ExporterConfigError for a kind that is not known and for options that cannot work."""
    _parse(kind, options)


def build_exporters(kind: str, options: Mapping[str, Any], *, context: ExporterContext) -> Sequence[Exporter]:
    """The exporters of one entry of the configuration. Needs a running event loop. Raises ExporterConfigError."""
    found, parsed = _parse(kind, options)
    return found.build(parsed.name or kind, parsed, context)


def _parse(kind: str, options: Mapping[str, Any]) -> tuple[ExporterKind[Any], ExporterOptions]:
    found = _load(kind)
    try:
        return found, found.options.model_validate(dict(options))
    except ValidationError as err:
        problems = " ".join(sentences(err, found.options))
        raise ExporterConfigError(f"The options of the exporter {kind!r} cannot work: {problems}") from None


def _load(kind: str) -> ExporterKind[Any]:
    if kind in _BUILT_IN:
        loaded: object = importlib.import_module(_BUILT_IN[kind]).KIND
    else:
        point = next(iter(entry_points(group=GROUP, name=kind)), None)
        if point is None:
            known = ", ".join(known_exporters())
            raise ExporterConfigError(f"There is no exporter {kind!r}; there are: {known}.")
        try:
            loaded = point.load()
        except Exception as err:
            raise ExporterConfigError(
                f"The exporter {kind!r} of {point.value!r} cannot be loaded ({type(err).__name__}: {err})."
            ) from err
    if not isinstance(loaded, ExporterKind):
        raise ExporterConfigError(f"The exporter {kind!r} is no ExporterKind; see exporters.registry.")
    return loaded
