"""A chat completion as it comes over the wire, read without trust in its form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from evaluators.judge.errors import JudgeError, JudgeErrorType
from evaluators.transcript.tokens import estimate_tokens

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


def usage_of(completion: Completion, *, prompt: str) -> Usage:
    """Where an endpoint does not count, we do: a budget must hold with it too."""
    return completion.usage or Usage(estimate_tokens(prompt), 0, estimate_tokens(completion.content))


def dump_completion(completion: Completion) -> bytes:
    """To be kept; what the call cost is not, since it costs nothing to recall it."""
    return json.dumps([completion.content, completion.finish_reason]).encode()


def load_completion(kept: bytes) -> Completion:
    content, finish_reason = json.loads(kept)
    return Completion(content, finish_reason, usage=None, refused=False)


def read_completion(body: bytes) -> Completion:
    """Raises `JudgeError` (`server_error`) for what is no chat completion."""
    try:
        completion = json.loads(body)
        choice = completion["choices"][0]
        message = choice["message"]
        finish_reason, content, refusal = choice.get("finish_reason"), message.get("content"), message.get("refusal")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as err:
        raise JudgeError(
            JudgeErrorType.SERVER_ERROR,
            "The judge answered 200 with something that is no chat completion: check that base_url ends in /v1.",
        ) from err
    return Completion(
        content=_text(content),
        finish_reason=finish_reason if isinstance(finish_reason, str) else None,
        usage=_usage(completion.get("usage")),
        refused=finish_reason == "content_filter" or bool(refusal and not content),
    )


def _text(content: object) -> str:
    """Some servers send a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return ""


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
