"""Where the judge is and how it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from collector.relay.destination import DestinationError, check_header
from evaluators.errors import EvaluatorConfigError
from evaluators.judge.prices import Price

OPENAI_BASE_URL = "https://api.openai.com/v1"
_USUAL_OUTPUT_TOKENS = 8192


@dataclass(frozen=True, slots=True)
class AzureConfig:
    """For Azure OpenAI; `base_url` is then the resource's address, and `model` the deployment's name."""

    api_version: str | None = None
    """Of the older API with deployments in its paths, such as 2024-10-21. None: the API `/openai/v1`."""
    credential: Literal["key", "token"] = "key"
    """key: `api_key`. token: what Azure's own chain of credentials finds, such as a managed identity."""


@dataclass(frozen=True, slots=True)
class JuryConfig:
    """Further answers to the same question, from which the majority is taken; off without samples and models. Even
    votes are an abstention.
    """

    samples: int = 0
    """Of the same model."""
    models: tuple[str, ...] = ()
    """Other models at the same endpoint, one answer each."""
    when: Literal["uncertain", "always"] = "uncertain"
    band: float = 0.2
    """A score is uncertain so near to its threshold; of an all-or-nothing question, every fail is."""

    def __post_init__(self) -> None:
        if not 0 <= self.samples <= 20 or len(self.models) > 20:
            raise EvaluatorConfigError("The jury has more than 20 samples or models, or fewer than none.")
        if not 0 <= self.band <= 1:
            raise EvaluatorConfigError(f"The jury's band is {self.band} and must be from 0 to 1.")

    @property
    def is_on(self) -> bool:
        return self.samples > 0 or bool(self.models)


@dataclass(frozen=True, slots=True)
class JudgeConfig:
    model: str
    base_url: str = OPENAI_BASE_URL
    api_key: SecretStr | None = None
    """None for servers that ask for none; the environment is never read here."""
    azure: AzureConfig | None = None
    plugin: str | None = None
    """A judge of another package, asked instead of the endpoint; see `evaluators.judge.plugin`."""
    plugin_options: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every request, for gateways."""
    deadline_s: float = 60.0
    """For one unit, all attempts and the repair included; counted from the moment a slot is free."""
    connect_timeout_s: float = 5.0
    max_attempts: int = 6
    """HTTP attempts for one answer, within the deadline."""
    max_concurrency: int = 8
    """Falls by itself while the provider says that it is too much, and comes back."""
    max_requests_per_minute: float | None = None
    """An even pace, whatever the number of questions in flight. None: as fast as the endpoint takes them."""
    max_output_tokens: int | None = None
    """Includes the hidden reasoning of reasoning models; twice that for the repair of an answer that was cut off.
    None: 8192, or no limit where that is refused."""
    max_record_tokens: int = 48_000
    """Longer conversations are shown shortened."""
    temperature: float | None = None
    """None: `usual_temperature`, left out where the endpoint refuses it. This and what follows is never left out where
    it is set: a value that the endpoint refuses is an error."""
    usual_temperature: float = 0.0
    top_p: float | None = None
    reasoning_effort: str | None = None
    seed: int | None = None
    breaker_failures: int = 8
    """Failures in a row that open the circuit."""
    breaker_cooldown_s: float = 30.0
    max_response_bytes: int = 4 * 1024 * 1024
    jury: JuryConfig = JuryConfig()
    prices: Mapping[str, Price] = field(default_factory=dict)
    """By model, over the built-in table."""
    trust_env: bool = True
    """Honour HTTP_PROXY and the like."""

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise EvaluatorConfigError("The judge has no model: set judge.model.")
        _check_address(self.base_url)
        _check_headers(self.headers, self.api_key)
        self._check_sampling()
        for name in ("deadline_s", "connect_timeout_s", "breaker_cooldown_s"):
            if not getattr(self, name) > 0:
                raise EvaluatorConfigError(f"The judge's {name} is {getattr(self, name)} and must be above 0.")
        for name in ("max_attempts", "max_concurrency", "breaker_failures", "max_response_bytes"):
            if getattr(self, name) < 1:
                raise EvaluatorConfigError(f"The judge's {name} is {getattr(self, name)} and must be at least 1.")
        if self.max_requests_per_minute is not None and not self.max_requests_per_minute > 0:
            raise EvaluatorConfigError(
                f"The judge's max_requests_per_minute is {self.max_requests_per_minute:g} and must be above 0."
            )
        if self.answer_tokens < 1:
            raise EvaluatorConfigError(
                f"The judge's max_output_tokens is {self.max_output_tokens} and must be at least 1."
            )
        if self.max_record_tokens < 1000:
            raise EvaluatorConfigError(
                f"The judge's max_record_tokens is {self.max_record_tokens} and must be at least 1000."
            )

    @property
    def answer_tokens(self) -> int:
        """What one answer may hold at first."""
        return _USUAL_OUTPUT_TOKENS if self.max_output_tokens is None else self.max_output_tokens

    @property
    def insisted(self) -> frozenset[str]:
        """Settings that the endpoint must take as they are."""
        names = ("max_output_tokens", "temperature", "top_p", "reasoning_effort", "seed")
        return frozenset(name for name in names if getattr(self, name) is not None)

    @property
    def uses_tls(self) -> bool:
        return urlsplit(self.base_url).scheme == "https"

    def _check_sampling(self) -> None:
        for name, least, most in (("temperature", 0, 2), ("top_p", 0, 1)):
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise EvaluatorConfigError(f"The judge's {name} is {value} and must be from {least} to {most}.")


def _check_address(base_url: str) -> None:
    shown = base_url.rsplit("@", 1)[-1]
    if any(sign.isspace() or not sign.isprintable() for sign in base_url):
        raise EvaluatorConfigError(f"The judge's base_url {shown!r} holds a space or an unprintable sign: remove it.")
    try:
        url = urlsplit(base_url)
        has_host = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:  # A port that is none, or brackets that do not match.
        has_host = False
    if not has_host:
        raise EvaluatorConfigError(
            f"The judge's base_url {shown!r} is no http or https URL: give one such as http://127.0.0.1:11434/v1."
        )
    if url.username or url.password:
        raise EvaluatorConfigError("The judge's base_url holds a user or password: put the key into judge.api_key.")
    if url.query or url.fragment:
        raise EvaluatorConfigError(
            f"The judge's base_url {shown!r} holds a query: give the address alone, and a version of Azure's API as "
            "judge.azure.api_version."
        )


def _check_headers(headers: Mapping[str, str], api_key: SecretStr | None) -> None:
    """What no request can carry would look like a judge that is down, and be tried for ever."""
    try:
        for name, value in headers.items():
            check_header(name, value)
    except DestinationError as err:
        raise EvaluatorConfigError(f"The judge's headers cannot be sent: {err}") from err
    try:
        check_header("authorization", api_key.get_secret_value() if api_key is not None else "")
    except DestinationError as err:
        raise EvaluatorConfigError(
            "The judge's api_key has characters that no key has, such as the line end of a file: give the key alone."
        ) from err
