"""`braintrust`: feedback scores on the logs of a Braintrust project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from pydantic import SecretStr

from exporters.braintrust import BraintrustBackend
from exporters.exporter import Exporter
from exporters.registry import ExporterContext, ExporterKind
from exporters.scores.exporter import ScoreExporter
from exporters.scores.options import ApiOptions, bearer, open_api


class BraintrustOptions(ApiOptions):
    api_url: str = "https://api.braintrust.dev"
    """The API, as in BRAINTRUST_API_URL; https://api-eu.braintrust.dev is the EU's."""
    api_key: SecretStr
    """As in BRAINTRUST_API_KEY."""
    project_id: UUID
    """Id of the project whose logs the traces are in."""
    comments: bool = True
    """Send the explanation as a comment; with `content` only."""


def _build(name: str, options: BraintrustOptions, context: ExporterContext) -> Sequence[Exporter]:
    api = open_api(options.api_url, name=name, options=options, context=context, headers=bearer(options.api_key))
    backend = BraintrustBackend(
        api,
        project_id=str(options.project_id),
        target_wait_s=options.target_wait_s,
        content=options.content,
        comments=options.comments,
    )
    return [ScoreExporter(name, backend, metrics=context.metrics)]


KIND: Final = ExporterKind(BraintrustOptions, _build)
