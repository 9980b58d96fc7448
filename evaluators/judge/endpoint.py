"""One attempt at an OpenAI-compatible endpoint: the only file that knows the OpenAI client.

One pooled client for all calls; its own retries and redirects are off. Every failure becomes a `JudgeError` with a
type. Requests carry the user agent `adhere` and the header `adhere-judge`, so that Adhere's own calls can be told from
those of the agents it watches.
"""

from __future__ import annotations

import ssl
from typing import NoReturn

import httpx2
import openai
import structlog

from collector.clock import Clock
from evaluators.judge.completion import Completion, read_completion
from evaluators.judge.config import JudgeConfig
from evaluators.judge.errors import JudgeError, JudgeErrorType
from evaluators.judge.form import Refusal, body_of, first_form, narrowed
from evaluators.judge.question import Question, Repair
from evaluators.judge.retry import retry_after_s
from evaluators.judge.transport import NO_COMPRESSION, bounded_responses

log = structlog.get_logger(__name__)

JUDGE_HEADER = "adhere-judge"
USER_AGENT = "adhere"

_MAX_NARROWINGS = 10


class OpenAIEndpoint:
    def __init__(self, config: JudgeConfig, *, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._form = first_form(config)
        # The deadline ends a slow answer; the client's own timeout is a net below it.
        timeout = httpx2.Timeout(config.deadline_s + 5, connect=config.connect_timeout_s)
        http_client = httpx2.AsyncClient(
            limits=httpx2.Limits(
                max_connections=config.max_concurrency,
                max_keepalive_connections=config.max_concurrency,
                keepalive_expiry=30,
            ),
            timeout=timeout,
            follow_redirects=False,
            trust_env=config.trust_env,
            verify=_tls(config),
            event_hooks={"response": [bounded_responses(config.max_response_bytes)]},
        )
        self._client = openai.AsyncOpenAI(
            # An explicit key: the client would otherwise send OPENAI_API_KEY to whatever base_url is.
            api_key=config.api_key.get_secret_value() if config.api_key is not None else "none",
            base_url=config.base_url,
            http_client=http_client,
            timeout=timeout,
            max_retries=0,
            default_headers={"User-Agent": USER_AGENT, JUDGE_HEADER: "1", **NO_COMPRESSION, **config.headers},
        )

    async def complete(self, question: Question, *, repair: Repair | None, max_tokens: int) -> Completion:
        """Raises `JudgeError`. Forms that the endpoint refuses are tried within the one attempt, and learned."""
        form = self._form
        for _ in range(_MAX_NARROWINGS):
            body = body_of(form, self._config, question, repair=repair, max_tokens=max_tokens)
            try:
                response = await self._client.post("/chat/completions", cast_to=httpx2.Response, body=body)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as err:
                rejected = _error_type(err, _code(err)) is JudgeErrorType.REJECTED
                narrower = narrowed(form, _refusal(err)) if rejected else None
                if narrower is None:
                    self._raise(err)
                form = narrower
            except openai.OpenAIError as err:
                self._raise(err)
            else:
                if form != self._form:
                    log.info("judge takes a narrower form of request", model=self._config.model, form=repr(form))
                    self._form = form
                return read_completion(response.content)
        raise JudgeError(JudgeErrorType.REJECTED, f"The judge at {self._config.base_url} takes no form of request.")

    async def close(self) -> None:
        await self._client.close()

    def _raise(self, err: openai.OpenAIError) -> NoReturn:
        """What the provider says is not repeated, as it may hold content or a part of the key; its codes are."""
        where = f"The judge {self._config.model!r} at {self._config.base_url}"
        match err:
            case openai.APITimeoutError():
                raise JudgeError(JudgeErrorType.TIMEOUT, f"{where} did not answer in time.") from err
            case openai.APIConnectionError():
                raise JudgeError(JudgeErrorType.CONNECTION, f"{where} cannot be reached, or hung up.") from err
            case openai.APIStatusError():
                wait_s = retry_after_s(err.response.headers, now_ns=self._clock.now_ns())
                code = _code(err)
                answered = f"{where} answered {err.status_code}{f' ({code})' if code else ''}"
                raise JudgeError(_error_type(err, code), f"{answered}.", retry_after_s=wait_s) from err
            case _:
                raise JudgeError(JudgeErrorType.REJECTED, f"{where} cannot be asked: {type(err).__name__}.") from err


def _tls(config: JudgeConfig) -> ssl.SSLContext:
    """The trusted authorities, which take a while to load, where TLS is spoken; else a context that trusts none."""
    return (
        httpx2.create_ssl_context(trust_env=config.trust_env)
        if config.uses_tls
        else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    )


def _error_type(err: openai.APIStatusError, code: str) -> JudgeErrorType:
    match err.status_code:
        case 401 | 403:
            return JudgeErrorType.UNAUTHORIZED
        case 402:
            return JudgeErrorType.QUOTA_EXHAUSTED
        case 429:
            exhausted = "quota" in code or "billing" in code
            return JudgeErrorType.QUOTA_EXHAUSTED if exhausted else JudgeErrorType.RATE_LIMITED
        case 408 | 409 | 425:
            return JudgeErrorType.SERVER_ERROR
        case status if status >= 500 or status < 400:
            return JudgeErrorType.SERVER_ERROR  # A redirect is not followed: what answers is not the judge.
    said = f"{code} {err.message}".lower()
    if err.status_code == 413 or "context_length" in said or "context length" in said or "maximum context" in said:
        return JudgeErrorType.TOO_LONG
    if "content_filter" in said or "content management policy" in said or "content_policy" in said:
        return JudgeErrorType.REFUSED
    return JudgeErrorType.REJECTED


def _code(err: openai.APIStatusError) -> str:
    """The provider's own code, where it is a word as codes are."""
    code = (err.code or err.type or "").lower()
    return code if len(code) <= 60 and code.replace("_", "").replace("-", "").isalnum() else ""


def _refusal(err: openai.APIStatusError) -> Refusal:
    return Refusal(param=(err.param or "").lower()[:200], text=f"{err.code} {err.message}".lower()[:4000])
