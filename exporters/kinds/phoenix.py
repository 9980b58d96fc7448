"""`phoenix`: annotations in Arize Phoenix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import SecretStr

from exporters.exporter import Exporter
from exporters.phoenix import PhoenixBackend
from exporters.registry import ExporterContext, ExporterKind
from exporters.scores.exporter import ScoreExporter
from exporters.scores.options import ApiOptions, bearer, open_api


class PhoenixOptions(ApiOptions):
    endpoint: str = "http://127.0.0.1:6006"
    """Where Phoenix is, such as https://app.phoenix.arize.com/s/my-space."""
    api_key: SecretStr | None = None
    """Not needed where Phoenix runs without authentication."""
    project: str = "default"
    """Name of the project, to look scores up again (`adhere exporters test`); writing needs none."""


def _build(name: str, options: PhoenixOptions, context: ExporterContext) -> Sequence[Exporter]:
    api = open_api(options.endpoint, name=name, options=options, context=context, headers=bearer(options.api_key))
    backend = PhoenixBackend(api, content=options.content, project=options.project)
    return [ScoreExporter(name, backend, metrics=context.metrics)]


KIND: Final = ExporterKind(PhoenixOptions, _build)
