"""Makes a judge of its configuration."""

from __future__ import annotations

import secrets
from random import Random

from collector.clock import Clock, SystemClock
from evaluators.judge.caller import Endpoint
from evaluators.judge.config import JudgeConfig
from evaluators.judge.credential import Credential, KeyCredential, TokenCredential, TokenSource
from evaluators.judge.endpoint import OpenAIEndpoint
from evaluators.judge.entra import EntraTokens
from evaluators.judge.judge import Judge
from evaluators.judge.ledger import CallLedger
from evaluators.judge.metrics import JudgeMetrics
from evaluators.judge.own_model import OwnModelEndpoint
from evaluators.judge.plugin import load_plugin
from evaluators.judge.throttle import ThrottledEndpoint
from evaluators.transcript.fence import Fence


def connect(
    config: JudgeConfig,
    *,
    fence_secret: bytes | None = None,
    clock: Clock | None = None,
    random: Random | None = None,
    metrics: JudgeMetrics | None = None,
    tokens: TokenSource | None = None,
    ledger: CallLedger | None = None,
) -> Judge:
    """`fence_secret`: at least 16 bytes kept by the installation, so that provider caches survive a restart; without
    it a new one is made for this process. `tokens`: for a credential of Azure other than its default chain.
    """
    clock = clock or SystemClock()
    return Judge(
        config,
        endpoint=_paced(open_endpoint(config, clock=clock, tokens=tokens), config, clock=clock),
        fence=Fence(fence_secret or secrets.token_bytes(32)),
        clock=clock,
        random=random or Random(),  # noqa: S311 - spreads retries over time; no secret.
        metrics=metrics,
        ledger=ledger,
    )


def open_endpoint(config: JudgeConfig, *, clock: Clock, tokens: TokenSource | None = None) -> Endpoint:
    """What a judge sends its questions to; to be closed by its owner."""
    if config.plugin is not None:
        return OwnModelEndpoint(load_plugin(config.plugin, config.plugin_options))
    return OpenAIEndpoint(config, clock=clock, credential=_credential(config, tokens, clock=clock))


def _paced(endpoint: Endpoint, config: JudgeConfig, *, clock: Clock) -> Endpoint:
    pace = config.max_requests_per_minute
    if pace is None:
        return endpoint
    return ThrottledEndpoint(endpoint, requests_per_minute=pace, max_wait_s=config.deadline_s, clock=clock)


def _credential(config: JudgeConfig, tokens: TokenSource | None, *, clock: Clock) -> Credential:
    if config.azure is None or config.azure.credential == "key":
        return KeyCredential(config)
    return TokenCredential(tokens or EntraTokens(), clock=clock)
