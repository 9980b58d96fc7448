"""Verdicts as signed JSON to any address.

A POST holds `{"schema": "adhere.verdicts/1", "verdicts": [...]}`, each verdict as in the JSON lines. With a secret it
is signed: `adhere-timestamp` is the time of sending (seconds since the epoch), `adhere-signature` is `v1=` and the
hexadecimal HMAC-SHA256, by the secret, of the timestamp, a full stop and the body's bytes. A receiver compares in
constant time, refuses timestamps that are off by more than five minutes, and drops the verdict ids that it has seen:
delivery is at least once, and every try is signed anew. Any 2xx takes the whole batch; 4xx refuses it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import orjson

from collector.clock import Clock
from collector.errors import RetryableError
from evaluators.verdict import Verdict
from exporters.errors import ExporterConfigError, TargetUnknownError
from exporters.http_api import JSON_TYPE, HttpApi
from exporters.verdict_line import verdict_fields

SCHEMA: Final = "adhere.verdicts/1"
REPLAY_WINDOW_S: Final = 300
"""How old a timestamp may be; for receivers."""
_CONTENT_FIELDS: Final = ("reason", "evidence", "details")


class WebhookBackend:
    def __init__(self, api: HttpApi, *, path: str, secret: str | None, clock: Clock, content: bool = True) -> None:
        """`path` is what follows host and port, the query included."""
        self._api = api
        self._path = path
        self._secret = secret
        self._clock = clock
        self._content = content

    def why_not(self, verdict: Verdict) -> str | None:  # noqa: ARG002 - every outcome has a form
        return None

    async def send(self, verdicts: Sequence[Verdict]) -> None:
        fields = [verdict_fields(verdict) for verdict in verdicts]
        if not self._content:
            fields = [{key: item[key] for key in item if key not in _CONTENT_FIELDS} for item in fields]
        body = orjson.dumps({"schema": SCHEMA, "verdicts": fields})
        headers = {"content-type": JSON_TYPE}
        if self._secret is not None:
            timestamp = str(self._clock.now_ns() // 10**9)
            headers |= {
                "adhere-timestamp": timestamp,
                "adhere-signature": signature(body, timestamp=timestamp, secret=self._secret),
            }
        try:
            await self._api.call("POST", self._path, content=body, headers=headers, silent=True)
        except TargetUnknownError as err:
            # Here it is the address that is not there, which says nothing about a verdict.
            raise RetryableError(str(err)) from err

    async def close(self) -> None:
        await self._api.close()


def signature(body: bytes, *, timestamp: str, secret: str) -> str:
    signed = timestamp.encode() + b"." + body
    return f"v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def is_signed(body: bytes, *, timestamp: str, given: str, secret: str, now_s: float) -> bool:
    """What a receiver checks before it reads a body."""
    if not timestamp.isascii() or not timestamp.isdigit() or abs(now_s - int(timestamp)) > REPLAY_WINDOW_S:
        return False
    return hmac.compare_digest(signature(body, timestamp=timestamp, secret=secret).encode(), given.encode())


def split_address(url: str, *, name: str) -> tuple[str, str]:
    """The server, and the path with its query."""
    parts = urlsplit(url)
    if not parts.netloc:
        raise ExporterConfigError(f"The url of the exporter {name!r} must be an address such as https://host/path.")
    return urlunsplit((parts.scheme, parts.netloc, "", "", "")), urlunsplit(
        ("", "", parts.path or "/", parts.query, "")
    )
