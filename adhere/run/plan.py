"""From the configuration to what the two processes are built of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import SecretStr

from adhere.config.base import is_loopback, split_endpoint
from adhere.config.judging import WaitConfig
from adhere.config.model import Config
from adhere.config.receiving import RelayConfig, TlsServerConfig
from adhere.run.data_dir import DataDir
from adhere.run.open_files import connections_within
from collector.dialects.declared import DeclaredSpan
from collector.enrich.settings import HoldConfig
from collector.journal.settings import JournalSettings
from collector.live.readiness import AdaptiveWait, ReadinessConfig
from collector.live.settings import LiveConfig
from collector.otlp.settings import GrpcReceiverSettings, HttpReceiverSettings, ReceiverLimits, TlsSettings
from collector.relay.destination import Destination
from evaluators.evaluator import Evaluator
from evaluators.measuring.calibration import Calibrations, read_calibrations
from evaluators.pipeline.setup import make_setup
from evaluators.registry import EvaluatorRegistry

EVALUATOR_CURSOR = "evaluator"


def relays(
    config: Config, destinations: Sequence[Destination], *, enrich: bool
) -> list[tuple[Destination, RelayConfig]]:
    """The plain ones run in the collector, the enriching ones in the evaluator."""
    pairs = zip(destinations, config.relay, strict=True)
    return [(destination, relay) for destination, relay in pairs if relay.enrich is enrich]


def hold_config(relay: RelayConfig) -> HoldConfig:
    return HoldConfig(deadline_s=relay.enrich_deadline_s, max_bytes=relay.enrich_max_bytes)


def relay_cursor(destination: Destination) -> str:
    return f"relay-{destination.name}"


def limits(config: Config, *, open_files: int) -> ReceiverLimits:
    wanted = ReceiverLimits(**config.receivers.limits.model_dump())
    return replace(wanted, max_connections=connections_within(open_files, wanted=wanted.max_connections))


def http_settings(config: Config, *, sender_id: str) -> HttpReceiverSettings:
    receiver = config.receivers.http
    host, port = split_endpoint(receiver.endpoint)
    return HttpReceiverSettings(
        host=host,
        port=port,
        bearer_token=secret(receiver.bearer_token),
        sender_id=sender_id,
        tls=_tls(receiver.tls),
        strict_bind=config.strict,
    )


def grpc_settings(config: Config, *, sender_id: str) -> GrpcReceiverSettings:
    receiver = config.receivers.grpc
    host, port = split_endpoint(receiver.endpoint)
    return GrpcReceiverSettings(
        host=host,
        port=port,
        bearer_token=secret(receiver.bearer_token),
        sender_id=sender_id,
        tls=_tls(receiver.tls),
        strict_bind=config.strict,
    )


def journal_settings(config: Config, *, directory: Path) -> JournalSettings:
    return JournalSettings(directory=directory, **config.journal.model_dump())


def live_config(config: Config) -> LiveConfig:
    conversations = config.conversations
    return LiveConfig(
        readiness=ReadinessConfig(
            quiet=_wait(conversations.quiet),
            turn_idle=_wait(conversations.turn_idle),
            turn_max_age_s=conversations.turn_max_age_s,
            conversation_idle=_wait(conversations.conversation_idle, quantile=0.9),
            conversation_max_age_s=conversations.conversation_max_age_s,
            revision_interval_s=conversations.revision_interval_s,
        ),
        retention_s=conversations.retention_s,
        max_bytes=conversations.max_bytes,
    )


def declared_spans(config: Config) -> tuple[DeclaredSpan, ...]:
    return tuple(DeclaredSpan(**one.model_dump()) for one in config.conversations.spans)


def configured_evaluator(config: Config, name: str, *, judge: object | None = None) -> Evaluator:
    """The evaluator of that name as it is configured, else as it is by default."""
    entries = [(entry.name, entry.options) for entry in config.evaluators]
    kind, options = next((entry for entry in entries if name == entry[1].get("as", entry[0])), (name, {}))
    return make_setup(kind, options, registry=EvaluatorRegistry(), judge=judge).evaluator


def known_calibrations(config: Config) -> Calibrations:
    """What `adhere calibrate` kept."""
    return read_calibrations(DataDir(config.data_dir).calibration)


def telemetry_hosts(config: Config) -> tuple[str, ...]:
    """The check of names keeps web pages off a loopback port; a public one is reached under names we do not know."""
    host, _ = split_endpoint(config.telemetry.endpoint)
    return config.telemetry.allowed_hosts or (() if is_loopback(host) else ("*",))


def secret(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value else None


def _tls(config: TlsServerConfig | None) -> TlsSettings | None:
    return TlsSettings(**config.model_dump()) if config else None


def _wait(config: WaitConfig, *, quantile: float = 0.98) -> AdaptiveWait:
    return AdaptiveWait(default_s=config.default_s, min_s=config.min_s, max_s=config.max_s, quantile=quantile)
