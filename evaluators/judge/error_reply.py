"""What an endpoint says when it says no: a status and a body of some form, made a type of error.

Nothing of the body is ever shown but the provider's own code, as the rest may hold content or a part of the key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from evaluators.judge.errors import JudgeErrorType
from evaluators.judge.form import Refusal

_MAX_READ = 4000
_STATUS_WORDS: Mapping[int, tuple[str, ...]] = {
    429: ("rate_limit", "quota", "too_many"),
    401: ("auth", "api_key", "permission"),
    400: ("invalid_request",),
}
_QUOTA = JudgeErrorType.QUOTA_EXHAUSTED
_TOO_LONG = ("context_length", "context length", "maximum context")


@dataclass(frozen=True, slots=True)
class ErrorReply:
    status: int
    code: str
    """The provider's code or type of error, in lower case."""
    param: str
    text: str
    """The whole body, in lower case and cut off."""

    @classmethod
    def read(cls, status: int, body: bytes) -> ErrorReply:
        text = body[:_MAX_READ].decode("utf-8", "replace").lower()
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            value = None
        fields = value.get("error", value) if isinstance(value, Mapping) else None
        if not isinstance(fields, Mapping):
            return cls(status, "", "", text)
        words = [word for word in (fields.get("code"), fields.get("type")) if isinstance(word, str)]
        code = next((word for word in words if not word.isdigit()), "")  # Some repeat the status there.
        param = fields.get("param")
        return cls(
            status,
            code.lower(),
            param.lower()[:200] if isinstance(param, str) else "",
            text,
        )

    @classmethod
    def inside(cls, body: bytes) -> ErrorReply | None:
        """Of a gateway that says 200 all the same; None where there is none."""
        if b'"error"' not in body or b'"choices"' in body:
            return None
        reply = cls.read(200, body)
        try:
            error = json.loads(body)["error"]
            status = int(error["code"]) if isinstance(error, Mapping) else 0
        except (ValueError, OverflowError, RecursionError, LookupError, TypeError):
            status = 0
        return replace(reply, status=status if 400 <= status < 600 else _status_of(reply))

    @property
    def error_type(self) -> JudgeErrorType:
        match self.status:
            case 401 | 403:
                return JudgeErrorType.UNAUTHORIZED
            case 402:
                return JudgeErrorType.QUOTA_EXHAUSTED
            case 429:
                # A gateway may have the provider's own code in its message only.
                exhausted = "quota" in self.code or "billing" in self.code or self._says("insufficient_quota")
                return JudgeErrorType.QUOTA_EXHAUSTED if exhausted else JudgeErrorType.RATE_LIMITED
            case 408 | 409 | 425:
                return JudgeErrorType.SERVER_ERROR
            case status if status >= 500 or status < 400:
                return JudgeErrorType.SERVER_ERROR  # A redirect is not followed: what answers is not the judge.
        if self.status == 413 or self._says(*_TOO_LONG):
            return JudgeErrorType.TOO_LONG
        if self._says("content_filter", "content management policy", "content_policy"):
            return JudgeErrorType.REFUSED
        return JudgeErrorType.REJECTED

    @property
    def way_out(self) -> str:
        """What somebody can do about it; empty where it passes by itself, or depends on the request."""
        if 300 <= self.status < 400:
            return "no redirect is followed, so set judge.base_url to the address that it leads to"
        match self.status:
            case 401 | 403:
                return "check judge.api_key"
            case 404 | 405:
                return "check judge.model and judge.base_url"
        return "the account at the provider needs more quota" if self.error_type is _QUOTA else ""

    @property
    def shown_code(self) -> str:
        """Where it is a word as codes are."""
        return self.code if len(self.code) <= 60 and self.code.replace("_", "").replace("-", "").isalnum() else ""

    def refusal(self) -> Refusal | None:
        """Where another form of request may be taken."""
        if self.status in (400, 422) and self.error_type is JudgeErrorType.REJECTED:
            return Refusal(param=self.param, text=self.text)
        return None

    def _says(self, *words: str) -> bool:
        return any(word in self.text for word in words)


def _status_of(reply: ErrorReply) -> int:
    """By the words that providers use for it."""
    for status, words in _STATUS_WORDS.items():
        if any(word in reply.code for word in words):
            return status
    return 400 if any(word in reply.text for word in _TOO_LONG) else 500
