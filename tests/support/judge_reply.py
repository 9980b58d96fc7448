"""What a scripted judge may do with a request: answer well, badly, late, half or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from tests.support.judge_call import JudgeCall


@dataclass(frozen=True, slots=True)
class Reply:
    content: str | None = None
    """The assistant message of a chat completion; ignored where `body` is given."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """The raw HTTP body instead of a chat completion."""
    latency_s: float = 0.0
    finish_reason: str = "stop"
    refusal: str | None = None
    usage: bool = True
    cached_tokens: int = 0
    action: Literal["answer", "hang", "disconnect"] = "answer"
    """hang: read the request and say nothing; disconnect: close the connection without an answer."""


Script: TypeAlias = Callable[[JudgeCall], Reply]


def answer(value: object, **changes: Any) -> Reply:
    """A well-formed answer; text as it stands, anything else as JSON."""
    content = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Reply(content=content, **changes)


def error(status: int, message: str = "Scripted failure.", **fields: Any) -> Reply:
    """An error body in OpenAI's form; `headers` and `latency_s` go to the reply, the rest into the error object."""
    reply = {name: fields.pop(name) for name in ("headers", "latency_s") if name in fields}
    body = {"error": {"message": message, "type": None, "param": None, "code": None, **fields}}
    return Reply(status=status, body=json.dumps(body).encode(), **reply)


def rate_limited(*, retry_after_s: float | None = None) -> Reply:
    headers = {} if retry_after_s is None else {"retry-after": f"{retry_after_s:g}"}
    return error(429, "Rate limit reached.", code="rate_limit_exceeded", headers=headers)


def hang() -> Reply:
    return Reply(action="hang")


def disconnect() -> Reply:
    return Reply(action="disconnect")


def always(reply: Reply) -> Script:
    return lambda _: reply


def in_order(replies: Sequence[Reply | Script], *, then: Script | None = None) -> Script:
    """Each call gets the next reply; after the last one `then`, or the last one again."""

    def script(call: JudgeCall) -> Reply:
        if call.number >= len(replies) and then is not None:
            return then(call)
        chosen = replies[min(call.number, len(replies) - 1)]
        return chosen if isinstance(chosen, Reply) else chosen(call)

    return script


def refusing(script: Script, *, parameter: str) -> Script:
    """Answers 400 while the request carries `parameter`, which may be narrowed as in `response_format.json_schema`."""
    name, _, kind = parameter.partition(".")

    def refuse(call: JudgeCall) -> Reply:
        value = call.body.get(name)
        if value is None or (kind and value.get("type") != kind):
            return script(call)
        return error(400, f"Unsupported parameter: '{name}' is not supported with this model.", param=name)

    return refuse
