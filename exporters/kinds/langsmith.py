"""`langsmith`: feedback in LangSmith."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from pydantic import SecretStr

from exporters.exporter import Exporter
from exporters.langsmith import LangsmithBackend
from exporters.registry import ExporterContext, ExporterKind
from exporters.scores.exporter import ScoreExporter
from exporters.scores.options import ApiOptions, open_api


class LangsmithOptions(ApiOptions):
    endpoint: str = "https://api.smith.langchain.com"
    """The API, as in LANGSMITH_ENDPOINT; https://eu.api.smith.langchain.com is the EU's."""
    api_key: SecretStr
    """As in LANGSMITH_API_KEY."""
    workspace_id: UUID | None = None
    """For keys of several workspaces, as in LANGSMITH_WORKSPACE_ID."""
    project_id: UUID | None = None
    """Id of the tracing project that the runs are in; newer versions of LangSmith ask for it."""


def _build(name: str, options: LangsmithOptions, context: ExporterContext) -> Sequence[Exporter]:
    headers = {"x-api-key": options.api_key.get_secret_value()}
    if options.workspace_id is not None:
        headers["x-tenant-id"] = str(options.workspace_id)
    api = open_api(options.endpoint, name=name, options=options, context=context, headers=headers)
    project_id = str(options.project_id) if options.project_id is not None else None
    backend = LangsmithBackend(api, content=options.content, project_id=project_id)
    return [ScoreExporter(name, backend, metrics=context.metrics)]


KIND: Final = ExporterKind(LangsmithOptions, _build)
