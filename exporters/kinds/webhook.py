"""`webhook`: signed JSON to any address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field, SecretStr

from exporters.exporter import Exporter
from exporters.registry import ExporterContext, ExporterKind
from exporters.scores.exporter import ScoreExporter
from exporters.scores.options import ApiOptions, open_api
from exporters.webhook import WebhookBackend, split_address


class WebhookOptions(ApiOptions):
    url: SecretStr
    """Where the POST goes; kept out of logs, since many addresses are secrets."""
    secret: Annotated[SecretStr, Field(min_length=16)] | None = None
    """Signs every request; at least 16 characters. Without it nothing is signed."""


def _build(name: str, options: WebhookOptions, context: ExporterContext) -> Sequence[Exporter]:
    server, path = split_address(options.url.get_secret_value(), name=name)
    api = open_api(server, name=name, options=options, context=context)
    backend = WebhookBackend(
        api,
        path=path,
        secret=options.secret.get_secret_value() if options.secret is not None else None,
        clock=context.clock,
        content=options.content,
    )
    return [ScoreExporter(name, backend, metrics=context.metrics)]


KIND: Final = ExporterKind(WebhookOptions, _build)
