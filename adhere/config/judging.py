"""Configuration of judging: conversations, the judge, evaluators."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, model_validator

from adhere.config.base import ConfigPart
from adhere.config.receiving import Bytes, Seconds


class WaitConfig(ConfigPart):
    """A wait that follows each agent's own pauses between two bounds."""

    default_s: Seconds
    """The wait until 20 pauses of an agent were seen (seconds)."""
    min_s: Seconds
    """Lower bound of the wait (seconds)."""
    max_s: Seconds
    """Upper bound of the wait (seconds)."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.min_s <= self.default_s <= self.max_s:
            raise ValueError(
                f"default_s ({self.default_s:g}) must lie between min_s ({self.min_s:g}) and max_s ({self.max_s:g})"
            )
        return self


class DeclaredSpanConfig(ConfigPart):
    """Spans of the application's own that hold what a user said or was told, and the attributes that do."""

    span: str = "*"
    """Glob of the span's name."""
    service: str = "*"
    """Glob of `service.name`."""
    user_input: str | None = None
    """Attribute with what the user said: a text, or messages as JSON."""
    output: str | None = None
    """Attribute with what the user was told."""
    conversation_id: str | None = None
    """Attribute that names the conversation; it wins over every other one."""

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if self.user_input is None and self.output is None and self.conversation_id is None:
            raise ValueError("needs an attribute: set user_input, output or conversation_id")
        return self


class ConversationsConfig(ConfigPart):
    spans: list[DeclaredSpanConfig] = Field(default_factory=list)
    """Spans that are turns although no instrumentation says so, such as a request handler's."""
    quiet: WaitConfig = WaitConfig(default_s=6, min_s=1, max_s=60)
    """After a turn's root or agent span ended: how long nothing may arrive before the turn is judged."""
    turn_idle: WaitConfig = WaitConfig(default_s=90, min_s=30, max_s=900)
    """For a turn whose end is not seen: how long nothing may arrive before it is judged as it is."""
    turn_max_age_s: Seconds = 3600.0
    """A turn is judged at this age, ended or not (seconds)."""
    conversation_idle: WaitConfig = WaitConfig(default_s=300, min_s=60, max_s=1800)
    """How long no further turn may come before the conversation is judged as a whole."""
    conversation_max_age_s: Seconds = 14400.0
    """A conversation that never pauses is judged as a whole this often (seconds)."""
    revision_interval_s: Seconds = 30.0
    """Least time between two judgements of one unit that changes (seconds); doubles with each, up to 900 s."""
    retention_s: Seconds = 7 * 86400.0
    """Conversations without new data are forgotten after this time (seconds)."""
    max_bytes: Bytes = 2 << 30
    """Bound of the conversation database (bytes); the conversations that were quiet longest go first."""


class PriceConfig(ConfigPart):
    """USD per million tokens."""

    input: Annotated[float, Field(ge=0)]
    """USD per million tokens of input."""
    output: Annotated[float, Field(ge=0)]
    """USD per million tokens of output."""
    cached_input: Annotated[float, Field(ge=0)] | None = None
    """USD per million tokens of input that came from the provider's cache; as other input if not set."""


class AzureConfig(ConfigPart):
    """For a deployment at Azure OpenAI: `base_url` is the resource's address, and `model` the deployment's name."""

    api_version: str | None = None
    """Of the older API, such as 2024-10-21; not needed for Azure's API `/openai/v1`, which is asked without it."""
    credential: Literal["key", "token"] = "key"
    """`key`: `judge.api_key`. `token`: what Azure finds, such as a managed identity; needs the extra `azure`."""


class BudgetConfig(ConfigPart):
    """What judging may cost, by day and month of UTC; a call is booked with the most that it may cost beforehand."""

    usd_per_day: Annotated[float, Field(gt=0, le=1e9)] | None = None
    """In USD; every model that is asked needs a known price, see `judge.prices`."""
    usd_per_month: Annotated[float, Field(gt=0, le=1e9)] | None = None
    """The same for a month."""
    tokens_per_day: Annotated[int, Field(gt=0, le=10**15)] | None = None
    """Input and output together (tokens)."""
    tokens_per_month: Annotated[int, Field(gt=0, le=10**15)] | None = None
    """The same for a month (tokens)."""
    wait: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Share of conversations whose units wait for the next day or month once it is used up; others are left out."""


class CacheConfig(ConfigPart):
    """Answers of the judge are kept, so that the same question is never paid for twice."""

    enabled: bool = True
    """Without it, every question is asked anew."""
    max_age_s: Seconds = 7 * 86400.0
    """How long an answer is kept (seconds)."""
    max_bytes: Bytes = 256 << 20
    """Bound of all kept answers (bytes); the oldest go first."""


class JuryConfig(ConfigPart):
    """Further answers to the same question, of which the majority counts; off without samples and models."""

    samples: Annotated[int, Field(ge=0, le=20)] = 0
    """Further answers of the same model. Even votes are an abstention, without a score: with the first answer and those
    of `models`, an odd number of answers decides.
    """
    models: Annotated[tuple[str, ...], Field(max_length=20)] = ()
    """Other models at the same endpoint; each gives one answer."""
    when: Literal["uncertain", "always"] = "uncertain"
    """`uncertain`: abstentions, scores near their threshold, and fails of all-or-nothing questions."""
    band: Annotated[float, Field(ge=0, le=1)] = 0.2
    """How near to its threshold a score is uncertain."""


class JudgeConfig(ConfigPart):
    """The model that answers. `OPENAI_API_KEY` and `OPENAI_BASE_URL` are honoured where a key here is not set."""

    model: str = "gpt-5-mini"
    """Name of the model, as the endpoint knows it."""
    base_url: str | None = None
    """Any OpenAI-compatible endpoint, such as http://localhost:11434/v1; else OPENAI_BASE_URL; else OpenAI's."""
    api_key: SecretStr | None = None
    """Sent as bearer token; else OPENAI_API_KEY. Not needed for servers that ask for none."""
    plugin: str | None = None
    """A judge of another package (entry point group `adhere.judges`), asked instead of an endpoint."""
    plugin_options: dict[str, Any] = Field(default_factory=dict)
    """Its own options."""
    azure: AzureConfig | None = None
    """For Azure OpenAI; `{}` is enough with `judge.base_url` and `judge.api_key`."""
    max_concurrency: Annotated[int, Field(gt=0, le=1024)] = 8
    """Questions asked at one time. Falls by itself while the endpoint says that it is too much, and comes back."""
    max_requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    """An even pace of requests, whatever the number of questions asked at one time; none if not set."""
    deadline_s: Seconds = 60.0
    """Hard bound of one judgement, retries included (seconds), counted from when a place for it is free."""
    max_transcript_tokens: Annotated[int, Field(ge=1000)] = 48_000
    """Longer conversations are shown shortened, visibly, and their coverage is reported (tokens, estimated)."""
    max_output_tokens: Annotated[int, Field(ge=256)] | None = None
    """Of one answer, hidden reasoning included (tokens). If not set 8192, or no limit where that is refused."""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Sent with every request, for gateways."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """0 where the endpoint takes it, if not set. A value that is set here and refused is reported, and not left out."""
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    """Sent if set; a refused value is reported."""
    reasoning_effort: str | None = None
    """Such as `low`, for models that have it. Sent if set; a refused value is reported."""
    seed: int | None = None
    """For endpoints that have it. Sent if set; a refused value is reported."""
    prices: dict[str, PriceConfig] = Field(default_factory=dict)
    """By model, over the built-in table; a model in neither has no known cost."""
    jury: JuryConfig = JuryConfig()
    """Whether several answers are asked for."""
    budget: BudgetConfig = BudgetConfig()
    """What judging may cost; what does not fit waits."""
    cache: CacheConfig = CacheConfig()
    """Which answers are kept."""


def _entry(value: object) -> object:
    """`rules` or `{rules: {...}}` or `{name: rules, ...}` -> the last form."""
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, dict) and "name" not in value:
        if len(value) != 1:
            raise ValueError("an entry is a name, or one name with its options, such as `- rules: {on: turn}`")
        name, options = next(iter(value.items()))
        if options is not None and not isinstance(options, dict):
            raise ValueError(f"the options of {name!r} must be a mapping, such as {{on: turn}}")
        return {"name": name, "options": dict(options or {})}
    return value


class NamedEntry(ConfigPart):
    name: str
    """Which evaluator or exporter; a plug-in's name as well."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Its own options; the short form `- NAME: {OPTIONS}` has them without this key."""


EvaluatorEntry = Annotated[NamedEntry, BeforeValidator(_entry)]
ExporterEntry = Annotated[NamedEntry, BeforeValidator(_entry)]
