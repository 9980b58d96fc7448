"""`grafana`: scores in Grafana's Agent Observability (Sigil)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from pydantic import SecretStr

from exporters.exporter import Exporter
from exporters.grafana import GrafanaBackend
from exporters.registry import ExporterContext, ExporterKind
from exporters.scores.exporter import ScoreExporter
from exporters.scores.options import ApiOptions, basic, bearer, open_api


class GrafanaOptions(ApiOptions):
    endpoint: str
    """The API, as in SIGIL_ENDPOINT; the configuration page of Agent Observability shows it."""
    token: SecretStr | None = None
    """Access token with the scope `sigil:write`, as in SIGIL_AUTH_TOKEN."""
    instance_id: str | None = None
    """Number of the Grafana Cloud stack, as in SIGIL_AUTH_TENANT_ID; without it the token is sent as bearer token."""
    generation_id: Literal["response_id", "span_id", "trace_id"] = "response_id"
    """Which of a verdict's ids is the id of the generation there."""


def _build(name: str, options: GrafanaOptions, context: ExporterContext) -> Sequence[Exporter]:
    headers = bearer(options.token)
    if options.instance_id is not None:
        headers = {"x-scope-orgid": options.instance_id}
        if options.token is not None:
            headers |= basic(options.instance_id, options.token.get_secret_value())
    api = open_api(options.endpoint, name=name, options=options, context=context, headers=headers)
    backend = GrafanaBackend(
        api, target_wait_s=options.target_wait_s, generation_id=options.generation_id, content=options.content
    )
    return [ScoreExporter(name, backend, metrics=context.metrics)]


KIND: Final = ExporterKind(GrafanaOptions, _build)
