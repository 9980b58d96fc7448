"""`langfuse`: scores in Langfuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import AfterValidator, Field, SecretStr

from exporters.exporter import Exporter
from exporters.langfuse import LangfuseBackend
from exporters.registry import ExporterContext, ExporterKind
from exporters.scores.exporter import ScoreExporter
from exporters.scores.options import ApiOptions, basic, open_api


def _not_reserved(environment: str) -> str:
    if environment.startswith("langfuse"):
        raise ValueError("Langfuse keeps names that begin with `langfuse` to itself")
    return environment


class LangfuseOptions(ApiOptions):
    host: str = "https://cloud.langfuse.com"
    """Where Langfuse is, as in LANGFUSE_HOST; https://us.cloud.langfuse.com is the US cloud."""
    public_key: str
    """The project's public key, pk-lf-…"""
    secret_key: SecretStr
    """The project's secret key, sk-lf-…"""
    environment: Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,40}$"), AfterValidator(_not_reserved)] | None = None
    """Environment that the scores are filed under; Langfuse's default if not set."""


def _build(name: str, options: LangfuseOptions, context: ExporterContext) -> Sequence[Exporter]:
    headers = basic(options.public_key, options.secret_key.get_secret_value())
    api = open_api(options.host, name=name, options=options, context=context, headers=headers)
    backend = LangfuseBackend(api, content=options.content, environment=options.environment)
    return [ScoreExporter(name, backend, metrics=context.metrics)]


KIND: Final = ExporterKind(LangfuseOptions, _build)
