"""The servers that the integration tests start: what to install, and how each is run."""

from __future__ import annotations

from functools import partial

from tests.deploy.documents import DEPLOY
from tests.integration.installed import collector, from_debian, from_pypi
from tests.integration.real_server import RealServer

PHOENIX = RealServer(
    programs=partial(from_pypi, "phoenix", ("arize-phoenix==20.26.1", "arize-phoenix-client==3.5.0")),
    command=("phoenix", "serve"),
    health="http://127.0.0.1:{port}/healthz",
    environ={
        "PHOENIX_WORKING_DIR": "{folder}",
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": "{port}",
        "PHOENIX_GRPC_PORT": "{second_port}",
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        "PHOENIX_AGENTS_DISABLE_WEB_ACCESS": "true",
        "PHOENIX_LOG_MIGRATIONS": "false",
    },
)
MLFLOW = RealServer(
    programs=partial(from_pypi, "mlflow", ("mlflow==3.17.2",)),
    command=(
        *("mlflow", "server", "--host", "127.0.0.1", "--port", "{port}", "--workers", "1"),
        *("--backend-store-uri", "sqlite:///{folder}/mlflow.db", "--artifacts-destination", "{folder}/artifacts"),
    ),
    health="http://127.0.0.1:{port}/health",
    environ={"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
)
PROMETHEUS = RealServer(
    programs=lambda: from_debian("prometheus", "prometheus").parent,
    command=(
        *("prometheus", "--config.file={folder}/prometheus.yaml", "--storage.tsdb.path={folder}/data"),
        *("--web.listen-address=127.0.0.1:{port}", "--enable-feature=exemplar-storage"),
    ),
    health="http://127.0.0.1:{port}/-/ready",
)


def otel_collector(config: str, **environ: str) -> RealServer:
    """With a configuration of deploy/; OTLP over HTTP is at `url`, over gRPC at `second_url`."""
    return RealServer(
        programs=lambda: collector(DEPLOY / "otel-collector" / "builder.yaml").parent,
        command=("otelcol", "--config", str(DEPLOY / "otel-collector" / config)),
        health="http://127.0.0.1:{third_port}/",
        environ={
            "HTTP_ENDPOINT": "127.0.0.1:{port}",
            "GRPC_ENDPOINT": "127.0.0.1:{second_port}",
            "HEALTH_ENDPOINT": "127.0.0.1:{third_port}",
            "METRICS_LEVEL": "none",
            **environ,
        },
    )
