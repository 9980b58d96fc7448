"""A model of one's own, as a plug-in would offer it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from tests.support.judge_question import GOOD_TEXT

Answering = Callable[..., Awaitable[str]]


class Model:
    """Answers as `answering` does, and remembers the messages that it got."""

    def __init__(self, answering: Answering | None = None, *, name: str = "mine") -> None:
        self.name = name
        self.asked: list[Sequence[Mapping[str, str]]] = []
        self._answering = answering

    async def answer(self, messages: Sequence[Mapping[str, str]], *, schema: Mapping[str, Any], max_tokens: int) -> str:
        self.asked.append(messages)
        if self._answering is None:
            return GOOD_TEXT
        return await self._answering(messages, schema=schema, max_tokens=max_tokens)


def make(*, name: str = "house-model") -> Model:
    return Model(name=name)


def broken() -> Model:
    raise RuntimeError("no licence")


def no_model() -> object:
    return "a text"
