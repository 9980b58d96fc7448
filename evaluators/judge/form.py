"""The form of request that an endpoint and model understand, found by what they refuse.

The fullest form is tried first. An endpoint that refuses a part of it with 400 or 422 gets the request without that
part, and what it took in the end is kept for all later requests: one refused request for each thing it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from evaluators.judge.config import JudgeConfig
from evaluators.judge.question import Question, Repair, messages_of


@dataclass(frozen=True, slots=True)
class Form:
    structure: Literal["json_schema", "json_object", "plain"] = "json_schema"
    limit: Literal["max_completion_tokens", "max_tokens"] | None = "max_completion_tokens"
    limit_swapped: bool = False
    temperature: bool = True
    seed: bool = True
    reasoning_effort: bool = True
    merged: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """What an endpoint said to a request that it does not take."""

    param: str
    text: str
    """Message and code, in lower case; read here and never shown."""


def first_form(config: JudgeConfig) -> Form:
    """Servers other than OpenAI's know the older name of the output limit best."""
    own = ".openai.com" in config.base_url or ".azure.com" in config.base_url
    return Form() if own else Form(limit="max_tokens")


def narrowed(form: Form, refusal: Refusal) -> Form | None:
    """The form without what was refused; None when nothing is left to take away."""
    for words, narrow in _NARROWINGS:
        if words.search(refusal.param) or (not refusal.param and words.search(refusal.text)):
            found = narrow(form)
            if found is not None:
                return found
    for words, narrow in _NARROWINGS:
        found = narrow(form) if words.search(refusal.text) else None
        if found is not None:
            return found
    return _less_structure(form)


def body_of(form: Form, config: JudgeConfig, question: Question, *, repair: Repair | None, max_tokens: int) -> Any:
    messages = messages_of(question, merged=form.merged, with_schema=form.structure != "json_schema", repair=repair)
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
    if form.temperature and config.temperature is not None:
        body["temperature"] = config.temperature
    if form.seed and config.seed is not None:
        body["seed"] = config.seed
    if form.reasoning_effort and config.reasoning_effort is not None:
        body["reasoning_effort"] = config.reasoning_effort
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


_Narrowing: TypeAlias = Callable[[Form], Form | None]

_NARROWINGS: Sequence[tuple[re.Pattern[str], _Narrowing]] = (
    (re.compile(r"temperature"), lambda form: replace(form, temperature=False) if form.temperature else None),
    (re.compile(r"reasoning"), lambda form: replace(form, reasoning_effort=False) if form.reasoning_effort else None),
    (re.compile(r"\bseed\b"), lambda form: replace(form, seed=False) if form.seed else None),
    (re.compile(r"max_(completion_)?tokens"), _other_limit),
    (re.compile(r"response_format|json_schema|json_object|schema|structured|grammar|guided"), _less_structure),
    (
        re.compile(r"alternat|system (role|message|prompt)|\broles?\b|chat.template"),
        lambda form: None if form.merged else replace(form, merged=True),
    ),
)
