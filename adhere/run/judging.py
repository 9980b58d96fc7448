"""From the configuration to what judging is built of."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import SecretStr

from adhere.config.judging import JudgeConfig
from adhere.config.model import Config
from collector.clock import Clock
from evaluators.budget import BudgetConfig as BudgetSettings
from evaluators.judge.config import OPENAI_BASE_URL
from evaluators.judge.config import AzureConfig as AzureSettings
from evaluators.judge.config import JudgeConfig as JudgeSettings
from evaluators.judge.config import JuryConfig as JurySettings
from evaluators.judge.metrics import JudgeMetrics
from evaluators.judge.prices import Price
from evaluators.pipeline.limits import PipelineLimits
from evaluators.store.ledger import StoredLedger
from evaluators.store.retention import Retention
from evaluators.store.thread import StoreThread

_OVER_THE_JUDGES_S = 30.0
"""The judge's client ends in order at its own deadline; the pipeline's is for one that does not."""


def judge_settings(config: Config, *, environ: Mapping[str, str]) -> JudgeSettings | None:
    """The judge that is configured, else the one that `OPENAI_API_KEY` or `OPENAI_BASE_URL` name, else None."""
    judge = config.judge
    key, base_url = environ.get("OPENAI_API_KEY"), environ.get("OPENAI_BASE_URL")
    if judge is None:
        if not key and not base_url:
            return None
        judge = JudgeConfig()
    return JudgeSettings(
        model=judge.model,
        base_url=judge.base_url or base_url or OPENAI_BASE_URL,
        api_key=judge.api_key or (SecretStr(key) if key else None),
        plugin=judge.plugin,
        plugin_options=judge.plugin_options,
        azure=AzureSettings(**judge.azure.model_dump()) if judge.azure else None,
        headers={name: value.get_secret_value() for name, value in judge.headers.items()},
        deadline_s=judge.deadline_s,
        max_concurrency=judge.max_concurrency,
        max_requests_per_minute=judge.max_requests_per_minute,
        max_output_tokens=judge.max_output_tokens,
        max_record_tokens=judge.max_transcript_tokens,
        temperature=judge.temperature,
        top_p=judge.top_p,
        reasoning_effort=judge.reasoning_effort,
        seed=judge.seed,
        jury=JurySettings(**judge.jury.model_dump()),
        prices={model: Price(**price.model_dump()) for model, price in judge.prices.items()},
    )


def with_judge(config: Config, *, judge_url: str | None, model: str | None) -> Config:
    """The configuration with what the command line says of the judge."""
    if judge_url is None and model is None:
        return config
    judge = config.judge or JudgeConfig()
    changed = {"base_url": judge_url or judge.base_url, "model": model or judge.model}
    return config.model_copy(update={"judge": judge.model_copy(update=changed)})


def budget_settings(config: Config) -> BudgetSettings:
    judge = config.judge or JudgeConfig()
    return BudgetSettings(**judge.budget.model_dump())


def pipeline_limits(config: Config) -> PipelineLimits:
    """No more units at once than the judge answers, so that waiting for a free slot does not eat a unit's own time."""
    judge = config.judge or JudgeConfig()
    is_jury = bool(judge.jury.samples or judge.jury.models)  # It is asked after the first answer.
    return PipelineLimits(
        max_concurrency=judge.max_concurrency,
        deadline_s=judge.deadline_s * (2 if is_jury else 1) + _OVER_THE_JUDGES_S,
        budget_wait=judge.budget.wait,
    )


def retention(config: Config) -> Retention:
    cache = (config.judge or JudgeConfig()).cache
    return Retention(calls_max_age_s=cache.max_age_s, calls_max_bytes=cache.max_bytes)


async def open_ledger(
    config: Config, store: StoreThread, *, clock: Clock, metrics: JudgeMetrics | None = None
) -> StoredLedger:
    judge = config.judge or JudgeConfig()
    ledger = StoredLedger(
        store, clock=clock, budget=budget_settings(config), keep_answers=judge.cache.enabled, metrics=metrics
    )
    await ledger.start()
    return ledger
