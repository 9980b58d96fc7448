"""`opik`: feedback scores in Opik."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import SecretStr

from exporters.exporter import Exporter
from exporters.opik import OpikBackend
from exporters.registry import ExporterContext, ExporterKind
from exporters.scores.exporter import ScoreExporter
from exporters.scores.options import ApiOptions, open_api


class OpikOptions(ApiOptions):
    url: str = "https://www.comet.com/opik/api"
    """The API, as in OPIK_URL_OVERRIDE; http://localhost:5173/api for a local Opik."""
    api_key: SecretStr | None = None
    """As in OPIK_API_KEY; a local Opik needs none."""
    workspace: str | None = None
    """As in OPIK_WORKSPACE; a local Opik needs none."""
    project: str = "Default Project"
    """Name of the project that the traces are in, as in OPIK_PROJECT_NAME."""


def _build(name: str, options: OpikOptions, context: ExporterContext) -> Sequence[Exporter]:
    headers = {} if options.api_key is None else {"authorization": options.api_key.get_secret_value()}
    if options.workspace:
        headers["comet-workspace"] = options.workspace
    api = open_api(options.url, name=name, options=options, context=context, headers=headers)
    backend = OpikBackend(api, project=options.project, target_wait_s=options.target_wait_s, content=options.content)
    return [ScoreExporter(name, backend, metrics=context.metrics)]


KIND: Final = ExporterKind(OpikOptions, _build)
