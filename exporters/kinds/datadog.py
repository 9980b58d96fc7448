"""`datadog`: external evaluations in Datadog's LLM Observability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field, SecretStr

from exporters.datadog import DatadogBackend
from exporters.exporter import Exporter
from exporters.registry import ExporterContext, ExporterKind
from exporters.scores.exporter import ScoreExporter
from exporters.scores.options import ApiOptions, open_api


class DatadogOptions(ApiOptions):
    site: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")] = "datadoghq.com"
    """As in DD_SITE, such as datadoghq.eu or us5.datadoghq.com."""
    endpoint: str | None = None
    """The API's address in full, for proxies; https://api.SITE if not set."""
    api_key: SecretStr
    """As in DD_API_KEY."""
    ml_app: Annotated[str, Field(min_length=1, max_length=193)] | None = None
    """Name of the application in Datadog; the judged service's name if not set."""
    tags: tuple[str, ...] = ()
    """Further tags, each `key:value`."""


def _build(name: str, options: DatadogOptions, context: ExporterContext) -> Sequence[Exporter]:
    api = open_api(
        options.endpoint or f"https://api.{options.site}",
        name=name,
        options=options,
        context=context,
        headers={"dd-api-key": options.api_key.get_secret_value()},
    )
    backend = DatadogBackend(api, ml_app=options.ml_app, tags=options.tags, content=options.content)
    return [ScoreExporter(name, backend, metrics=context.metrics)]


KIND: Final = ExporterKind(DatadogOptions, _build)
