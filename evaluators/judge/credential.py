"""How a request shows who asks: a key as bearer token or in Azure's own header, or a token that is renewed in time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from collector.clock import Clock
from evaluators.judge.config import JudgeConfig

_RENEW_BEFORE_S = 300.0


@dataclass(frozen=True, slots=True)
class Token:
    value: str
    expires_ns: int

    def __repr__(self) -> str:
        return f"Token(***, expires_ns={self.expires_ns})"


class TokenSource(Protocol):
    def fetch(self) -> Token:
        """May block; raises `JudgeError`."""


class Credential(Protocol):
    async def headers(self) -> Mapping[str, str]:
        """Raises `JudgeError`."""


class KeyCredential:
    """Without a key nothing is sent: `OPENAI_API_KEY` must never reach whatever `base_url` is."""

    def __init__(self, config: JudgeConfig) -> None:
        key = config.api_key.get_secret_value() if config.api_key is not None else None
        if key is None:
            self._headers: Mapping[str, str] = {}
        elif config.azure is not None:
            self._headers = {"api-key": key}
        else:
            self._headers = {"authorization": f"Bearer {key}"}

    async def headers(self) -> Mapping[str, str]:
        return self._headers


class TokenCredential:
    """One fetch at a time, in a thread; a token is used until five minutes before its end."""

    def __init__(self, source: TokenSource, *, clock: Clock) -> None:
        self._source = source
        self._clock = clock
        self._token: Token | None = None
        self._fetching = asyncio.Lock()

    async def headers(self) -> Mapping[str, str]:
        async with self._fetching:
            token = self._token
            if token is None or self._clock.now_ns() + _RENEW_BEFORE_S * 1e9 >= token.expires_ns:
                token = self._token = await asyncio.to_thread(self._source.fetch)
        return {"authorization": f"Bearer {token.value}"}
