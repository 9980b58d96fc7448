"""A chat completion as it comes over the wire, read without trust in its form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from evaluators.judge.errors import JudgeError, JudgeErrorType
from evaluators.transcript.escape import one_line
from evaluators.transcript.tokens import estimate_tokens

_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens"})
_FILTERED = frozenset({"content_filter", "safety", "refusal", "recitation", "prohibited_content", "blocklist"})
"""As providers behind gateways call it."""
_TEXT_PARTS = frozenset({None, "text", "output_text"})
_MAX_NAME_CHARS = 80
_MOST_TOKENS = 1 << 32
"""Over it a count is none: no model reads as much, and a ledger could not hold what it comes to."""


@dataclass(frozen=True, slots=True)
class Usage:
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    reasoning_tokens: int | None = None
    """Of the output; None: the endpoint does not say."""


@dataclass(frozen=True, slots=True)
class Completion:
    content: str
    finish_reason: str | None
    usage: Usage | None
    """None: the endpoint does not say."""
    refused: bool
    """The model or a content filter declined to answer."""
    model: str | None = None
    """As the endpoint calls the model that answered; None: it does not say."""

    @property
    def cut_off(self) -> bool:
        """At the limit of output."""
        return (self.finish_reason or "").lower() in _CUT_OFF


def usage_of(completion: Completion, *, prompt: str) -> Usage:
    """Where an endpoint does not count, we do: a budget must hold with it too."""
    return completion.usage or Usage(estimate_tokens(prompt), 0, estimate_tokens(completion.content))


def dump_completion(completion: Completion) -> bytes:
    """To be kept; what the call cost is not, since it costs nothing to recall it."""
    return json.dumps([completion.content, completion.finish_reason, completion.model]).encode()


def load_completion(kept: bytes) -> Completion:
    content, finish_reason, *model = json.loads(kept)  # Earlier releases kept no model.
    return Completion(content, finish_reason, usage=None, refused=False, model=next(iter(model), None))


def read_completion(body: bytes) -> Completion:
    """Raises `JudgeError` (`server_error`) for what is no chat completion."""
    try:
        completion = _loaded(body)
        choice = completion["choices"][0]
        message = choice["message"]
        finish_reason, content, refusal = choice.get("finish_reason"), _said(message), message.get("refusal")
        broken_off = bool(choice.get("error")) or finish_reason == "error"
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as err:
        raise JudgeError(
            JudgeErrorType.SERVER_ERROR,
            "The judge answered 200 with something that is no chat completion: check that base_url ends in /v1.",
        ) from err
    if broken_off:
        raise JudgeError(JudgeErrorType.SERVER_ERROR, "The judge broke its answer off with an error of its provider.")
    finish_reason = finish_reason if isinstance(finish_reason, str) else None
    filtered = (finish_reason or "").lower() in _FILTERED
    return Completion(
        content=content,
        finish_reason=finish_reason,
        usage=_usage(completion.get("usage")),
        refused=filtered or bool(refusal and not _is_object(content)),
        model=_model(completion.get("model")),
    )


def _model(name: object) -> str | None:
    return one_line(name.strip(), max_chars=_MAX_NAME_CHARS) or None if isinstance(name, str) else None


def _loaded(body: bytes) -> Any:
    """A sign that is no UTF-8 spoils no answer."""
    try:
        return json.loads(body)
    except UnicodeDecodeError:
        return json.loads(body.decode("utf-8", "replace"))


def _said(message: Mapping[str, Any]) -> str:
    """What the model answered, wherever the server put it.

    A server that takes an answer for reasoning, or makes a call of the schema, leaves the content empty: nobody offered
    the model a tool, and it is read as strictly as any other answer.
    """
    content = _text(message.get("content"))
    if content.strip():
        return content
    elsewhere = (_arguments(message.get("tool_calls")), message.get("reasoning_content"), message.get("reasoning"))
    return next(filter(_is_object, map(_text, elsewhere)), content)


def _arguments(calls: object) -> object:
    call = calls[0] if isinstance(calls, list) and len(calls) == 1 else None
    function = call.get("function") if isinstance(call, Mapping) else None
    return function.get("arguments") if isinstance(function, Mapping) else None


def _is_object(content: str) -> bool:
    return content.lstrip().startswith("{")


def _text(content: object) -> str:
    """Some servers send a list of parts, of which some are the model's reasoning."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return json.dumps(content, ensure_ascii=False)
    if isinstance(content, list):
        return "".join(part if isinstance(part, str) else _part(part) for part in content)
    return ""


def _part(part: object) -> str:
    text = part.get("text") if isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS else None
    return text if isinstance(text, str) else ""


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    prompt, output = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not _is_count(prompt) or not _is_count(output):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    details = usage.get("completion_tokens_details")
    reasoning = details.get("reasoning_tokens") if isinstance(details, Mapping) else None
    return Usage(
        prompt,
        min(prompt, cached) if _is_count(cached) else 0,
        output,
        min(output, reasoning) if _is_count(reasoning) else None,
    )


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
