"""What an endpoint says when it says no: a status and a body of some form, made a type of error.

Nothing of the body is ever shown but the provider's own code, as the rest may hold content or a part of the key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from evaluators.judge.errors import JudgeErrorType
from evaluators.judge.form import Refusal

_MAX_READ = 4000


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
        if self.status == 413 or self._says("context_length", "context length", "maximum context"):
            return JudgeErrorType.TOO_LONG
        if self._says("content_filter", "content management policy", "content_policy"):
            return JudgeErrorType.REFUSED
        return JudgeErrorType.REJECTED

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
