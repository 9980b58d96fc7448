"""One attempt at an OpenAI-compatible endpoint over HTTP.

The client is bare: it neither retries nor follows redirects, and costs a third of what a provider's own does. Every
failure becomes a `JudgeError` with a type. Requests carry the user agent `adhere` and the header
`adhere-judge`, so that Adhere's own calls can be told from those of the agents it watches.
"""

from __future__ import annotations

import json
import ssl
from typing import Any

import httpx2
import orjson
import structlog

from collector.clock import Clock
from collector.unreachable import why_unreachable
from evaluators.judge.address import completions_url
from evaluators.judge.completion import Completion, read_completion
from evaluators.judge.config import JudgeConfig
from evaluators.judge.connections import Connections
from evaluators.judge.credential import Credential
from evaluators.judge.error_reply import ErrorReply
from evaluators.judge.errors import JudgeError, JudgeErrorType
from evaluators.judge.form import Form, RefusedSettingError, body_of, first_form, narrowed
from evaluators.judge.question import Question, Repair
from evaluators.judge.retry import retry_after_s
from evaluators.judge.transport import NO_COMPRESSION, bounded_responses

log = structlog.get_logger(__name__)

JUDGE_HEADER = "adhere-judge"
USER_AGENT = "adhere"

_MAX_NARROWINGS = 10
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)


class OpenAIEndpoint:
    def __init__(self, config: JudgeConfig, *, clock: Clock, credential: Credential) -> None:
        self._config = config
        self._clock = clock
        self._credential = credential
        self._form = first_form(config)
        self._url = httpx2.URL(completions_url(config))
        self._where = f"The judge {config.model!r} at {config.base_url}"
        self._tls = _tls(config)
        self._connections = Connections(config.max_concurrency, client=self._client)

    async def complete(self, question: Question, *, repair: Repair | None, max_tokens: int) -> Completion:
        """Raises `JudgeError`. Forms that the endpoint refuses are tried within the one attempt, and learned."""
        form = self._form
        for _ in range(_MAX_NARROWINGS):
            response = await self._post(body_of(form, self._config, question, repair=repair, max_tokens=max_tokens))
            reply = _refusal_in(response)
            if reply is None:
                self._learn(form)
                return read_completion(response.content)
            narrower = self._narrowed(form, reply)
            if narrower is None:
                raise self._error(reply, response.headers)
            form = narrower
        raise JudgeError(JudgeErrorType.REJECTED, f"{self._where} takes no form of request.")

    async def close(self) -> None:
        await self._connections.close()

    def _client(self, limits: httpx2.Limits) -> httpx2.AsyncClient:
        config = self._config
        return httpx2.AsyncClient(
            limits=limits,
            # The deadline ends a slow answer; the client's own timeout is a net below it.
            timeout=httpx2.Timeout(config.deadline_s + 5, connect=config.connect_timeout_s),
            follow_redirects=False,
            trust_env=config.trust_env,
            verify=self._tls,
            event_hooks={"response": [bounded_responses(config.max_response_bytes, sender=self._where)]},
            headers={
                "user-agent": USER_AGENT,
                JUDGE_HEADER: "1",
                "content-type": "application/json",
                "accept": "application/json",
                **NO_COMPRESSION,
                **config.headers,
            },
        )

    async def _post(self, body: Any) -> httpx2.Response:
        headers = await self._credential.headers()
        try:
            return await self._connections.post(self._url, content=_encoded(body), headers=dict(headers))
        except httpx2.TimeoutException as err:
            raise JudgeError(
                JudgeErrorType.TIMEOUT,
                f"{self._where} did not answer in time.",
                may_be_billed=not isinstance(err, _NOT_SENT),
            ) from err
        except httpx2.TransportError as err:
            raise JudgeError(
                JudgeErrorType.CONNECTION,
                f"{self._where} cannot be reached, or hung up ({why_unreachable(err)}).",
                may_be_billed=not isinstance(err, _NOT_SENT),
            ) from err
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as err:
            raise JudgeError(JudgeErrorType.REJECTED, f"{self._where} cannot be asked: {type(err).__name__}.") from err

    def _narrowed(self, form: Form, reply: ErrorReply) -> Form | None:
        refusal = reply.refusal()
        if refusal is None:
            return None
        try:
            return narrowed(form, refusal, insisted=self._config.insisted)
        except RefusedSettingError as err:
            value = getattr(self._config, err.setting)
            raise JudgeError(
                JudgeErrorType.REJECTED,
                f"{self._where} refuses judge.{err.setting} {value}: set another value, or leave it out.",
            ) from err

    def _learn(self, form: Form) -> None:
        if form != self._form:
            log.info("judge takes a narrower form of request", model=self._config.model, form=repr(form))
            self._form = form

    def _error(self, reply: ErrorReply, headers: httpx2.Headers) -> JudgeError:
        wait_s = retry_after_s(headers, now_ns=self._clock.now_ns())
        code = f" ({reply.shown_code})" if reply.shown_code else ""
        way_out = f": {reply.way_out}" if reply.way_out else ""
        message = f"{self._where} answered {reply.status}{code}{way_out}."
        return JudgeError(reply.error_type, message, retry_after_s=wait_s)


def _refusal_in(response: httpx2.Response) -> ErrorReply | None:
    if response.is_success:
        return ErrorReply.inside(response.content)
    return ErrorReply.read(response.status_code, response.content)


def _encoded(body: Any) -> bytes:
    """Text is sent as it is, and escaped only where it is no valid Unicode."""
    try:
        return orjson.dumps(body)
    except (TypeError, ValueError):
        return json.dumps(body).encode()


def _tls(config: JudgeConfig) -> ssl.SSLContext:
    """The trusted authorities, which take a while to load, where TLS is spoken; else a context that trusts none."""
    return (
        httpx2.create_ssl_context(trust_env=config.trust_env)
        if config.uses_tls
        else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    )
