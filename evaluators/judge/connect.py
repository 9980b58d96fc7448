"""Makes a judge of its configuration. Importing this imports the OpenAI client, which takes a moment."""

from __future__ import annotations

import secrets
from random import Random

from collector.clock import Clock, SystemClock
from evaluators.judge.config import JudgeConfig
from evaluators.judge.endpoint import OpenAIEndpoint
from evaluators.judge.judge import Judge
from evaluators.judge.metrics import JudgeMetrics
from evaluators.transcript.fence import Fence


def connect(
    config: JudgeConfig,
    *,
    fence_secret: bytes | None = None,
    clock: Clock | None = None,
    random: Random | None = None,
    metrics: JudgeMetrics | None = None,
) -> Judge:
    """`fence_secret`: at least 16 bytes kept by the installation, so that provider caches survive a restart; without
    it a new one is made for this process.
    """
    clock = clock or SystemClock()
    return Judge(
        config,
        endpoint=OpenAIEndpoint(config, clock=clock),
        fence=Fence(fence_secret or secrets.token_bytes(32)),
        clock=clock,
        random=random or Random(),  # noqa: S311 - spreads retries over time; no secret.
        metrics=metrics,
    )
