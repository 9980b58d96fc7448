"""Where chat completions are asked for."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from evaluators.judge.config import JudgeConfig


def completions_url(config: JudgeConfig) -> str:
    base = config.base_url.rstrip("/")
    if config.azure is None:
        return f"{base}/chat/completions"
    if config.azure.api_version is not None:
        path = f"openai/deployments/{quote(config.model, safe='')}/chat/completions"
        return f"{_resource(base)}/{path}?api-version={quote(config.azure.api_version, safe='')}"
    return f"{base if urlsplit(base).path else f'{base}/openai/v1'}/chat/completions"


def _resource(base: str) -> str:
    """Also where somebody gave the whole address of the newer API."""
    return base.removesuffix("/v1").removesuffix("/openai")
