"""A model of one's own as a judge: anything with a name that answers a list of messages with a text.

What goes for an endpoint goes for it: answers are checked against the schema, repaired once, kept, bounded in time and
number, and an exception of the model is an outcome and no score. TimeoutError and ConnectionError are tried again.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any, Protocol

from collector.clock import Clock, SystemClock
from evaluators.judge.completion import Completion
from evaluators.judge.config import JudgeConfig
from evaluators.judge.errors import JudgeError, JudgeErrorType
from evaluators.judge.judge import Judge
from evaluators.judge.ledger import CallLedger
from evaluators.judge.question import Question, Repair, messages_of
from evaluators.transcript.fence import Fence


class OwnModel(Protocol):
    @property
    def name(self) -> str:
        """In verdicts, and a part of their ids: another model, another name."""

    async def answer(self, messages: Sequence[Mapping[str, str]], *, schema: Mapping[str, Any], max_tokens: int) -> str:
        """One JSON object that fits the schema, which also stands in the last message."""


class OwnModelEndpoint:
    def __init__(self, model: OwnModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(self, question: Question, *, repair: Repair | None, max_tokens: int) -> Completion:
        messages = messages_of(question, merged=False, with_schema=True, repair=repair)
        try:
            content = await self._model.answer(messages, schema=question.schema, max_tokens=max_tokens)
        except JudgeError:
            raise
        except TimeoutError as err:
            raise self._error(JudgeErrorType.TIMEOUT, "did not answer in time") from err
        except ConnectionError as err:
            raise self._error(JudgeErrorType.CONNECTION, "cannot be reached, or hung up") from err
        except Exception as err:  # The model may raise anything; it is named, and what it says may hold content.
            raise self._error(JudgeErrorType.SERVER_ERROR, f"raised {type(err).__name__}") from err
        if not isinstance(content, str):
            raise self._error(JudgeErrorType.SERVER_ERROR, "answered with no text")
        return Completion(content=content, finish_reason=None, usage=None, refused=False)

    async def close(self) -> None:
        """The model is its maker's."""

    def _error(self, error_type: JudgeErrorType, what: str) -> JudgeError:
        return JudgeError(error_type, f"The judge {self._model.name!r} {what}.", may_be_billed=True)


def judge_from(
    model: OwnModel,
    *,
    config: JudgeConfig | None = None,
    clock: Clock | None = None,
    random: Random | None = None,
    ledger: CallLedger | None = None,
) -> Judge:
    """`config`: its limits and times; its address is not used."""
    return Judge(
        replace(config, model=model.name) if config is not None else JudgeConfig(model=model.name),
        endpoint=OwnModelEndpoint(model),
        fence=Fence(secrets.token_bytes(32)),
        clock=clock or SystemClock(),
        random=random or Random(),  # noqa: S311 - spreads retries over time; no secret.
        ledger=ledger,
    )
