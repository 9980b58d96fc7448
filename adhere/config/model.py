"""The whole configuration. Every option has a default that works."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from adhere.config.base import ConfigPart, Endpoint, Token, split_endpoint
from adhere.config.judging import ConversationsConfig, EvaluatorEntry, ExporterEntry, JudgeConfig, NamedEntry
from adhere.config.receiving import JournalConfig, ReceiversConfig, RelayConfig, Seconds


def default_data_dir() -> Path:
    """`$XDG_STATE_HOME/adhere`, else `~/.local/state/adhere`."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "adhere"


def _not_empty(value: object) -> object:
    """A path made of nothing is the working directory."""
    if value == "":
        raise ValueError("it is empty; name a folder, or leave the key out")
    return value


class LogsConfig(ConfigPart):
    level: Literal["debug", "info", "warning", "error"] = "info"
    """What is written at least."""
    format: Literal["auto", "text", "json"] = "auto"
    """`auto`: text on a terminal, JSON elsewhere."""


class TelemetryConfig(ConfigPart):
    """Adhere's own telemetry: `/metrics`, `/healthz` and `/readyz`, and its log."""

    endpoint: Endpoint = "127.0.0.1:9464"
    """host:port of `/metrics`, `/healthz` and `/readyz`."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names under which it may be reached, such as `adhere` in a compose network; addresses and localhost always
    may. On a public endpoint without any named here, every name may."""
    bearer_token: Token | None = None
    """When set, `/metrics` needs `Authorization: Bearer <token>`; the probes never do."""
    logs: LogsConfig = LogsConfig()


class Config(ConfigPart):
    data_dir: Annotated[Path, BeforeValidator(_not_empty)] = Field(default_factory=default_data_dir)
    """Folder of the journal and of all state; one running Adhere a folder."""
    receivers: ReceiversConfig = ReceiversConfig()
    journal: JournalConfig = JournalConfig()
    relay: tuple[RelayConfig, ...] = ()
    """Where the received telemetry goes on to, byte for byte."""
    conversations: ConversationsConfig = ConversationsConfig()
    judge: JudgeConfig | None = None
    """Without it, the model evaluators answer `not_assessable`; the rules and checks run all the same."""
    evaluators: tuple[EvaluatorEntry, ...] = (
        NamedEntry(name="rules"),
        NamedEntry(name="task_adherence"),
        NamedEntry(name="role_adherence"),
        NamedEntry(name="conversation_completeness"),
    )
    """What is asked of turns and conversations: names, each with its options."""
    exporters: tuple[ExporterEntry, ...] = (NamedEntry(name="prometheus"),)
    """Where scores go: `otlp`, `prometheus`, `jsonl` or a plug-in, each with its options."""
    telemetry: TelemetryConfig = TelemetryConfig()
    strict: bool = False
    """Refuse to start with a receiver that listens beyond loopback without TLS or token; else that is a warning."""
    shutdown_s: Seconds = 25.0
    """Bound of an orderly stop after SIGTERM (seconds)."""

    @model_validator(mode="after")
    def _ports_differ(self) -> Self:
        receivers = {"receivers.grpc": self.receivers.grpc, "receivers.http": self.receivers.http}
        endpoints = {f"{name}.endpoint": one.endpoint for name, one in receivers.items() if one.enabled}
        taken: dict[tuple[str, int], str] = {}
        for name, endpoint in {**endpoints, "telemetry.endpoint": self.telemetry.endpoint}.items():
            where = split_endpoint(endpoint)
            if where[1] and where in taken:
                raise ValueError(f"{taken[where]} and {name} are both {endpoint}; give one of them another port")
            taken[where] = name
        return self
