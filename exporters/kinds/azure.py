"""`azure`: custom events in Azure Monitor's Application Insights, for Foundry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import SecretStr

from exporters.azure import AzureBackend
from exporters.errors import ExporterConfigError
from exporters.exporter import Exporter
from exporters.registry import ExporterContext, ExporterKind
from exporters.scores.exporter import ScoreExporter
from exporters.scores.options import ApiOptions, open_api

_DEFAULT_ENDPOINT = "https://dc.services.visualstudio.com"


class AzureOptions(ApiOptions):
    connection_string: SecretStr
    """As in APPLICATIONINSIGHTS_CONNECTION_STRING: `InstrumentationKey=…;IngestionEndpoint=https://…`."""


def _build(name: str, options: AzureOptions, context: ExporterContext) -> Sequence[Exporter]:
    parts = {
        key.strip().lower(): value.strip()
        for key, _, value in (part.partition("=") for part in options.connection_string.get_secret_value().split(";"))
    }
    key = parts.get("instrumentationkey")
    if not key:
        raise ExporterConfigError(
            f"The connection_string of the exporter {name!r} has no InstrumentationKey; copy it from the resource's "
            "overview in the Azure portal."
        )
    endpoint = parts.get("ingestionendpoint")
    suffix = parts.get("endpointsuffix")
    if not endpoint:
        endpoint = f"https://dc.{suffix}" if suffix else _DEFAULT_ENDPOINT
    api = open_api(endpoint, name=name, options=options, context=context)
    backend = AzureBackend(api, instrumentation_key=key, version=context.version, content=options.content)
    return [ScoreExporter(name, backend, metrics=context.metrics)]


KIND: Final = ExporterKind(AzureOptions, _build)
