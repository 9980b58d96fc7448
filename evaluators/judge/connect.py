"""Makes a judge of its configuration."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from collector.clock import Clock, SystemClock
from evaluators.judge.caller import Endpoint
from evaluators.judge.config import JudgeConfig, JuryConfig
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

_SAMPLING_TEMPERATURE = 1.0
"""Answers of the same model shall differ where it is in doubt."""


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
    spread = random or Random()  # noqa: S311 - spreads retries over time; no secret.
    fence = Fence(fence_secret or secrets.token_bytes(32))
    endpoint = open_endpoint(config, clock=clock, tokens=tokens)
    if isinstance(endpoint, OwnModelEndpoint):
        config = replace(config, model=endpoint.name)

    def judge(
        config: JudgeConfig, endpoint: Endpoint, jurors: Sequence[Judge] = (), *, is_juror: bool = False
    ) -> Judge:
        return Judge(
            config,
            endpoint=_paced(endpoint, config, clock=clock),
            fence=fence,
            clock=clock,
            random=spread,
            metrics=metrics,
            ledger=ledger,
            jurors=jurors,
            is_juror=is_juror,
        )

    jurors: list[Judge] = []
    for settings, answers in _jury(config):
        juror = judge(settings, open_endpoint(settings, clock=clock, tokens=tokens), is_juror=True)
        jurors += [juror.sample(number) for number in range(1, answers + 1)]
    return judge(config, endpoint, jurors)


def _jury(config: JudgeConfig) -> Iterator[tuple[JudgeConfig, int]]:
    """The jurors, and how many answers each gives."""
    alone = replace(config, jury=JuryConfig())
    if config.jury.samples:
        yield replace(alone, usual_temperature=_SAMPLING_TEMPERATURE), config.jury.samples
    for model in config.jury.models:
        yield replace(alone, model=model), 1


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
