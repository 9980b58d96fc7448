"""Configuration of judging: conversations, the judge, evaluators."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, SecretStr, model_validator

from adhere.config.base import ConfigPart
from adhere.config.receiving import Bytes, Seconds


class ConversationsConfig(ConfigPart):
    quiet_min_s: Seconds = 2.0
    """Shortest quiet period after a turn's last data before it is judged (seconds)."""
    quiet_max_s: Seconds = 60.0
    """Longest quiet period (seconds); between the two it follows each agent's own gaps."""
    turn_idle_s: Seconds = 120.0
    """A turn whose root span never arrives is judged after this time without data (seconds)."""
    turn_max_age_s: Seconds = 3600.0
    """A turn is judged at this age, ended or not (seconds)."""
    conversation_idle_s: Seconds = 300.0
    """A conversation is judged as a whole after this time without a new turn (seconds)."""
    conversation_max_age_s: Seconds = 86400.0
    """A conversation is judged as a whole at this age, idle or not (seconds)."""
    retention_s: Seconds = 7 * 86400.0
    """Conversations without new data are forgotten after this time (seconds)."""
    max_bytes: Bytes = 2 << 30
    """Bound of the conversation database (bytes); the oldest conversations go first."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.quiet_min_s > self.quiet_max_s:
            raise ValueError(f"quiet_min_s ({self.quiet_min_s}) must not be over quiet_max_s ({self.quiet_max_s})")
        return self


class JudgeConfig(ConfigPart):
    """The model that answers. `OPENAI_API_KEY` and `OPENAI_BASE_URL` are honoured where a key here is not set."""

    model: str = "gpt-5-mini"
    base_url: str | None = None
    """Any OpenAI-compatible endpoint, such as http://localhost:11434/v1."""
    api_key: SecretStr | None = None
    max_concurrency: Annotated[int, Field(gt=0, le=1024)] = 8
    deadline_s: Seconds = 60.0
    """Hard bound of one judgement, retries included (seconds)."""
    max_transcript_tokens: Annotated[int, Field(ge=1000)] = 100_000
    """Longer conversations are shortened visibly in the middle (tokens, estimated)."""


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
    options: dict[str, Any] = Field(default_factory=dict)
    """Checked by the thing that has this name."""


EvaluatorEntry = Annotated[NamedEntry, BeforeValidator(_entry)]
ExporterEntry = Annotated[NamedEntry, BeforeValidator(_entry)]
