"""The form of request that an endpoint and model understand, found by what they refuse.

The fullest form is tried first. An endpoint that refuses a part of it with 400 or 422 gets the request without that
part, and what it took in the end is kept for all later requests: one refused request for each thing it does not know.
What somebody has set is not taken away: that it is refused is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from evaluators.judge.config import JudgeConfig
from evaluators.judge.question import Question, Repair, messages_of


@dataclass(frozen=True, slots=True)
class Form:
    structure: Literal["json_schema", "json_object", "plain"] = "json_schema"
    limit: Literal["max_completion_tokens", "max_tokens"] | None = "max_completion_tokens"
    limit_swapped: bool = False
    temperature: bool = True
    merged: bool = False
    schema_shown: bool = False
    """The schema stands in the question also where it is sent as `response_format`."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What an endpoint said to a request that it does not take."""

    param: str
    text: str
    """Message and code, in lower case; read here and never shown."""


class RefusedSettingError(Exception):
    """The endpoint refuses what was set; `setting` is its name in the configuration."""

    def __init__(self, setting: str) -> None:
        super().__init__(setting)
        self.setting = setting


def first_form(config: JudgeConfig) -> Form:
    """Servers other than OpenAI's know the older name of the output limit best."""
    own = ".openai.com" in config.base_url or ".azure.com" in config.base_url
    return Form() if own else Form(limit="max_tokens")


def narrowed(form: Form, refusal: Refusal, *, insisted: Collection[str] = ()) -> Form | None:
    """The form without what was refused; None when nothing is left to take away.

    Raises `RefusedSettingError` for one of the settings in `insisted`.
    """
    in_param = [one for one in _NARROWINGS if one.words.search(refusal.param)]
    in_text = [one for one in _NARROWINGS if one.words.search(refusal.text)]
    for one in in_param + in_text:
        found = one.narrow(form)
        if one.setting in insisted and (found is None or _takes_away(form, found, refusal)):
            raise RefusedSettingError(str(one.setting))
        if found is not None:
            return found
    return _less_structure(form)


def _takes_away(form: Form, narrower: Form, refusal: Refusal) -> bool:
    """The other name of the output limit is no other limit, unless it is the number that is refused."""
    return narrower.limit == form.limit or narrower.limit is None or _NUMBER_REFUSED.search(refusal.text) is not None


def body_of(form: Form, config: JudgeConfig, question: Question, *, repair: Repair | None, max_tokens: int) -> Any:
    with_schema = form.schema_shown or form.structure != "json_schema"
    messages = messages_of(question, merged=form.merged, with_schema=with_schema, repair=repair)
    body: dict[str, Any] = {"model": config.model, "messages": messages}
    match form.structure:
        case "json_schema":
            schema: Mapping[str, Any] = {"name": question.name, "strict": True, "schema": question.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        case "json_object":
            body["response_format"] = {"type": "json_object"}
        case "plain":
            pass
    if form.limit is not None:
        body[form.limit] = max_tokens
    if config.temperature is not None:
        body["temperature"] = config.temperature
    elif form.temperature:
        body["temperature"] = config.usual_temperature
    settings = {"top_p": config.top_p, "seed": config.seed, "reasoning_effort": config.reasoning_effort}
    body |= {name: value for name, value in settings.items() if value is not None}
    return body


def _less_structure(form: Form) -> Form | None:
    match form.structure:
        case "json_schema":
            return replace(form, structure="json_object")
        case "json_object":
            return replace(form, structure="plain")
        case "plain":
            return None


def _other_limit(form: Form) -> Form | None:
    if form.limit is None:
        return None
    if form.limit_swapped:
        return replace(form, limit=None)
    other: Literal["max_tokens", "max_completion_tokens"] = (
        "max_tokens" if form.limit == "max_completion_tokens" else "max_completion_tokens"
    )
    return replace(form, limit=other, limit_swapped=True)


@dataclass(frozen=True, slots=True)
class _Narrowing:
    words: re.Pattern[str]
    narrow: Callable[[Form], Form | None]
    setting: str | None = None


_NUMBER_REFUSED = re.compile(r"too (large|big|high|many)|at most|less than|exceed|out of range")
_NARROWINGS: Sequence[_Narrowing] = (
    _Narrowing(
        re.compile(r"temperature"),
        lambda form: replace(form, temperature=False) if form.temperature else None,
        "temperature",
    ),
    _Narrowing(re.compile(r"top_p"), lambda _: None, "top_p"),
    _Narrowing(re.compile(r"reasoning"), lambda _: None, "reasoning_effort"),
    _Narrowing(re.compile(r"\bseed\b"), lambda _: None, "seed"),
    _Narrowing(re.compile(r"max_(completion_)?tokens"), _other_limit, "max_output_tokens"),
    _Narrowing(
        re.compile(r"response_format|json_schema|json_object|schema|structured|grammar|guided"), _less_structure
    ),
    _Narrowing(
        re.compile(r"alternat|system (role|message|prompt)|\broles?\b|chat.template"),
        lambda form: None if form.merged else replace(form, merged=True),
    ),
)
