"""The servers that the integration tests start: what to install, and how each is run."""

from __future__ import annotations

from tests.integration.real_server import RealServer

PHOENIX = RealServer(
    name="phoenix",
    requirements=("arize-phoenix==20.26.1", "arize-phoenix-client==3.5.0"),
    command=("phoenix", "serve"),
    health_path="/healthz",
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
    name="mlflow",
    requirements=("mlflow==3.17.2",),
    command=(
        *("mlflow", "server", "--host", "127.0.0.1", "--port", "{port}", "--workers", "1"),
        *("--backend-store-uri", "sqlite:///{folder}/mlflow.db", "--artifacts-destination", "{folder}/artifacts"),
    ),
    health_path="/health",
    environ={"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"},
)
