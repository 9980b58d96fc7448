"""`weave`: feedback in W&B Weave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field, SecretStr

from exporters.exporter import Exporter
from exporters.registry import ExporterContext, ExporterKind
from exporters.scores.exporter import ScoreExporter
from exporters.scores.options import ApiOptions, basic, open_api
from exporters.weave import WeaveBackend

_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9._ -]{1,128}$")]


class WeaveOptions(ApiOptions):
    trace_url: str = "https://trace.wandb.ai"
    """The trace server, as in WF_TRACE_SERVER_URL."""
    api_key: SecretStr
    """As in WANDB_API_KEY."""
    entity: _Name
    """The team or user that owns the project."""
    project: _Name
    """The project that the traces are in."""


def _build(name: str, options: WeaveOptions, context: ExporterContext) -> Sequence[Exporter]:
    headers = basic("api", options.api_key.get_secret_value())
    api = open_api(options.trace_url, name=name, options=options, context=context, headers=headers)
    backend = WeaveBackend(api, entity=options.entity, project=options.project, content=options.content)
    return [ScoreExporter(name, backend, metrics=context.metrics)]


KIND: Final = ExporterKind(WeaveOptions, _build)
