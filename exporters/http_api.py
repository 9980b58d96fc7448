"""JSON over HTTP to another backend's API: one client, with the rules that hold for all of them.

One try a call, bounded in time and in what is read of the answer; redirects are not followed. It does not retry: it
says whether another try may help. Credentials are in no message, and what a server says is repeated only as far as it
does not repeat what was sent.
"""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

import httpx2
import orjson

from collector.clock import Clock
from collector.errors import AdhereError, PermanentError, RetryableError, UnauthenticatedError
from collector.relay.destination import ClientTls, Destination, DestinationError
from collector.relay.http_client import HttpClient
from collector.relay.refusal import printable, retry_after_s
from exporters.echo import Echo
from exporters.errors import ExporterConfigError, TargetUnknownError

JSON_TYPE: Final = "application/json"
_RETRYABLE: Final = frozenset({408, 409, 423, 425, 429})
_TEXT_FIELDS: Final = ("message", "error", "detail", "error_message", "errors", "title")


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes

    def json(self) -> Any:
        """Raises RetryableError where it is no JSON: a proxy's page in the way, say."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as err:
            raise RetryableError("The backend's answer is no JSON; is the address that of its API?") from err


class HttpApi:
    def __init__(
        self,
        base_url: str,
        *,
        name: str,
        clock: Clock,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 10.0,
        target_wait_s: float = 900.0,
        tls: ClientTls | None = None,
        max_connections: int = 8,
    ) -> None:
        """`name` is the exporter's. User-info in the address becomes an `authorization` header. Opens no connection.

        Raises ExporterConfigError.
        """
        try:
            # The relay's rules for addresses, headers and certificates hold here as well.
            where = Destination(
                endpoint=base_url,
                name=name,
                protocol="http/protobuf",
                headers=dict(headers or {}),
                timeout_s=timeout_s,
                tls=tls or ClientTls(),
            )
            self._client = HttpClient(
                where,
                who=f"The backend of the exporter {name}",
                headers={"accept": JSON_TYPE, **where.headers},
                max_connections=max_connections,
            )
        except DestinationError as err:
            raise ExporterConfigError(f"The exporter {name!r} cannot work: {err}") from err
        self._name = name
        self._base = where.endpoint.rstrip("/")
        self._clock = clock
        self._target_wait_s = target_wait_s
        self._secrets = tuple(secret for value in where.headers.values() for secret in _secrets_in(value))

    async def call(
        self,
        method: str,
        path: str,
        *,
        json_body: object = None,
        content: bytes | None = None,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        allow: Collection[int] = (),
        silent: bool = False,
    ) -> Answer:
        """The answer, if it is a success or its status is in `allow`; `silent` repeats nothing that the server says.

        Raises RetryableError (TargetUnknownError for 404), UnauthenticatedError, and PermanentError for all else.
        """
        body = content if json_body is None else orjson.dumps(json_body)
        sent_headers = {**({"content-type": JSON_TYPE} if body is not None else {}), **(headers or {})}
        response, answer = await self._client.send(
            method, self._base + path, content=body, params=params, headers=sent_headers
        )
        if response.is_success or response.status_code in allow:
            return Answer(response.status_code, answer)
        raise self._failure(response, b"" if silent else answer, sent=json_body)

    async def close(self) -> None:
        await self._client.close()

    @property
    def _who(self) -> str:
        return f"The backend of the exporter {self._name}"

    def _failure(self, response: httpx2.Response, answer: bytes, *, sent: object) -> AdhereError:
        status = response.status_code
        text = Echo(sent, secrets=self._secrets).masked(
            _said(answer, content_type=response.headers.get("content-type", ""))
        )
        message = f"{self._who} answered {_phrase(status)}{f': {text}' if text else ''}."
        wait_s = retry_after_s(response.headers.get("retry-after"), now_ns=self._clock.now_ns())
        if 300 <= status < 400:
            # Another address says nothing about a verdict; it waits until somebody has mended the configuration.
            return RetryableError(f"{message} Redirects are not followed; set the address that it names.")
        if status in (401, 403, 407):
            return UnauthenticatedError(message)
        if status == 404:
            return TargetUnknownError(message, patience_s=self._target_wait_s, retry_after_s=wait_s)
        if status in _RETRYABLE or (status >= 500 and status not in (501, 505)):
            return RetryableError(message, retry_after_s=wait_s)
        return PermanentError(message)


def segment(text: str) -> str:
    """Text from telemetry or configuration as one segment of a path, whatever is in it."""
    return quote(text, safe="") if text not in (".", "..") else "%2E" * len(text)


def _secrets_in(header: str) -> list[str]:
    """A header's value, and what stands in it where it is basic authentication."""
    scheme, _, encoded = header.partition(" ")
    found = [header]
    if scheme.lower() == "basic":
        with contextlib.suppress(ValueError):
            found += base64.b64decode(encoded).decode().split(":", 1)
    return [value for value in found if len(value) > 3]


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _said(answer: bytes, *, content_type: str) -> str:
    """The sentence in a JSON error, or a plain text; "" where there is none, such as for a page of HTML."""
    try:
        found: object = json.loads(answer[: 64 << 10]) if answer else None
    except (ValueError, RecursionError):
        found = answer[: 64 << 10].decode(errors="replace") if content_type.startswith("text/plain") else ""
    return printable(_sentence(found)).rstrip(".")


def _sentence(found: object, *, depth: int = 0) -> str:
    if isinstance(found, str):
        return found
    if depth > 4:
        return ""
    if isinstance(found, list):
        return "; ".join(filter(None, (_sentence(item, depth=depth + 1) for item in found[:3])))
    if isinstance(found, dict):
        # FastAPI's form of a validation error has the refused input beside it: only place and message are taken.
        if "loc" in found and "msg" in found and isinstance(found["loc"], list):
            return f"{'.'.join(str(part) for part in found['loc'])}: {found['msg']}"
        return next(filter(None, (_sentence(found.get(key), depth=depth + 1) for key in _TEXT_FIELDS)), "")
    return ""
