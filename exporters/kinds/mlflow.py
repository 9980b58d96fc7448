"""`mlflow`: assessments in MLflow 3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import SecretStr

from exporters.errors import ExporterConfigError
from exporters.exporter import Exporter
from exporters.mlflow import MlflowBackend
from exporters.registry import ExporterContext, ExporterKind
from exporters.scores.exporter import ScoreExporter
from exporters.scores.options import ApiOptions, basic, bearer, open_api


class MlflowOptions(ApiOptions):
    tracking_uri: str = "http://127.0.0.1:5000"
    """The tracking server, as in MLFLOW_TRACKING_URI."""
    token: SecretStr | None = None
    """Sent as bearer token, as MLFLOW_TRACKING_TOKEN is."""
    username: str | None = None
    """For basic authentication; goes with `password`."""
    password: SecretStr | None = None
    """For basic authentication; goes with `username`."""


def _build(name: str, options: MlflowOptions, context: ExporterContext) -> Sequence[Exporter]:
    headers = bearer(options.token)
    if (options.username is None) != (options.password is None):
        raise ExporterConfigError(f"The exporter {name!r} needs username and password together, or neither.")
    if options.username is not None and options.password is not None:
        headers = basic(options.username, options.password.get_secret_value())
    api = open_api(options.tracking_uri, name=name, options=options, context=context, headers=headers)
    return [ScoreExporter(name, MlflowBackend(api, content=options.content), metrics=context.metrics)]


KIND: Final = ExporterKind(MlflowOptions, _build)
