"""Where the judge is and how it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pydantic import SecretStr

from evaluators.errors import EvaluatorConfigError
from evaluators.judge.prices import Price

OPENAI_BASE_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class JudgeConfig:
    model: str
    base_url: str = OPENAI_BASE_URL
    api_key: SecretStr | None = None
    """None for servers that ask for none; the environment is never read here."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every request, for gateways."""
    deadline_s: float = 60.0
    """For one unit, all attempts and the repair included; counted from the moment a slot is free."""
    connect_timeout_s: float = 5.0
    max_attempts: int = 6
    """HTTP attempts for one answer, within the deadline."""
    max_concurrency: int = 8
    """Falls by itself while the provider says that it is too much, and comes back."""
    max_output_tokens: int = 8192
    """Includes the hidden reasoning of reasoning models; twice that for the repair of an answer that was cut off."""
    max_record_tokens: int = 48_000
    """Longer conversations are shown shortened."""
    temperature: float | None = 0.0
    """Left out where the endpoint refuses it. None: never sent."""
    reasoning_effort: str | None = None
    seed: int | None = None
    breaker_failures: int = 8
    """Failures in a row that open the circuit."""
    breaker_cooldown_s: float = 30.0
    max_response_bytes: int = 4 * 1024 * 1024
    prices: Mapping[str, Price] = field(default_factory=dict)
    """By model, over the built-in table."""
    trust_env: bool = True
    """Honour HTTP_PROXY and the like."""

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise EvaluatorConfigError("The judge has no model: set judge.model.")
        url = urlsplit(self.base_url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise EvaluatorConfigError(
                f"The judge's base_url {_without_user(self.base_url)!r} is no http or https URL: "
                "give one such as http://127.0.0.1:11434/v1."
            )
        if url.username or url.password:
            raise EvaluatorConfigError("The judge's base_url holds a user or password: put the key into judge.api_key.")
        for name in ("deadline_s", "connect_timeout_s", "breaker_cooldown_s"):
            if not getattr(self, name) > 0:
                raise EvaluatorConfigError(f"The judge's {name} is {getattr(self, name)} and must be above 0.")
        for name in ("max_attempts", "max_concurrency", "max_output_tokens", "breaker_failures", "max_response_bytes"):
            if getattr(self, name) < 1:
                raise EvaluatorConfigError(f"The judge's {name} is {getattr(self, name)} and must be at least 1.")
        if self.max_record_tokens < 1000:
            raise EvaluatorConfigError(
                f"The judge's max_record_tokens is {self.max_record_tokens} and must be at least 1000."
            )

    @property
    def uses_tls(self) -> bool:
        return urlsplit(self.base_url).scheme == "https"


def _without_user(url: str) -> str:
    return url.rsplit("@", 1)[-1]
