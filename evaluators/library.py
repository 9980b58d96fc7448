"""Evaluators for code of one's own: a conversation in any accepted form in, a verdict out.

    evaluator = make_evaluator("role_adherence", judge=JudgeConfig(model="gpt-5-mini"), threshold=0.9)
    verdict = await evaluator.evaluate({"turns": [{"input": "...", "actual_output": "..."}]})
    verdict = evaluator.evaluate_sync(query="...", response="...")

The evaluators, ids and outcomes are those of a running Adhere. What is wrong with the input or the options is raised
before any judge is asked; what goes wrong with a judge is an outcome.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from weakref import WeakKeyDictionary

from collector.clock import Clock, SystemClock
from collector.model import Conversation
from evaluators.errors import EvaluatorConfigError, InputFormError, MissingArgumentError
from evaluators.evaluator import Evaluator
from evaluators.formats import conversation_from
from evaluators.judge.config import JudgeConfig
from evaluators.judge.connect import connect
from evaluators.judge.judge import Judge
from evaluators.judge.memory_ledger import MemoryLedger
from evaluators.offline import evaluate_unit, units_of
from evaluators.pipeline.setup import EvaluatorSetup, make_setup
from evaluators.portal import LoopThread
from evaluators.registry import EvaluatorRegistry
from evaluators.scale import Scale, scale_of
from evaluators.verdict import Outcome, Unit, UnitKind, Verdict


@dataclass(frozen=True, slots=True)
class TurnVerdicts:
    """One verdict for each turn, and what they come to."""

    verdicts: tuple[Verdict, ...]

    @property
    def score(self) -> float | None:
        """The mean of the scores; None where no turn has one."""
        scores = [verdict.score for verdict in self.verdicts if verdict.score is not None]
        return sum(scores) / len(scores) if scores else None

    @property
    def outcome(self) -> Outcome:
        """A failed turn fails the whole; an error is one only where nothing failed; turns without a score count not."""
        outcomes = {verdict.outcome for verdict in self.verdicts}
        order = (Outcome.FAIL, Outcome.ERROR, Outcome.PASS, Outcome.ABSTAIN)
        return next((outcome for outcome in order if outcome in outcomes), Outcome.NOT_ASSESSABLE)


class OfflineEvaluator:
    """Made by `make_evaluator`. Several calls may run at the same time; the judge's own limit holds for all of them.

    With a `JudgeConfig` each event loop gets a judge of its own, which `aclose`, or leaving `async with`, ends. A
    `Judge` that is given stays its maker's, and serves the loop in which it was asked first.
    """

    def __init__(
        self,
        kind: str | Evaluator,
        options: Mapping[str, object],
        *,
        judge: Judge | JudgeConfig | None = None,
        registry: EvaluatorRegistry | None = None,
        clock: Clock | None = None,
        cache: bool = True,
    ) -> None:
        if not isinstance(kind, str) and (options or judge is not None):
            raise EvaluatorConfigError(
                f"The evaluator {kind.name!r} is made already; give its options and its judge to itself."
            )
        self._kind = kind
        self._options = dict(options)
        self._judge = judge
        self._registry = registry or EvaluatorRegistry()
        self._clock = clock or SystemClock()
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[EvaluatorSetup, Judge | None]] = (
            WeakKeyDictionary()
        )
        self._thread = LoopThread()
        self._ledger = MemoryLedger() if cache else None
        self._fence_secret = secrets.token_bytes(32)  # The same in every loop, so that the same request is the same.
        evaluator = self._setup(judge if isinstance(judge, Judge) else None).evaluator  # Options are checked here.
        self.name = evaluator.name
        self.unit_kind = evaluator.unit_kind
        self.scale: Scale = scale_of(evaluator)

    async def evaluate(self, given: object = None, /, **arguments: object) -> Verdict:
        """The verdict on the conversation, or, for an evaluator of turns, on its last turn with all before it.

        `given` is a conversation in any accepted form; or its parts are keyword arguments, such as `turns`,
        `messages`, `query` and `response`, `tool_definitions`. Raises `InputFormError`, `MissingArgumentError`.
        """
        conversation = _conversation(given, arguments)
        return await self._judged(Unit(self.unit_kind, conversation, turn_index=len(conversation.turns) - 1))

    async def evaluate_turns(self, given: object = None, /, **arguments: object) -> TurnVerdicts:
        """A verdict on each turn, judged with its history; `given` as for `evaluate`."""
        if self.unit_kind is not UnitKind.TURN:
            raise EvaluatorConfigError(
                f"The evaluator {self.name!r} is asked about conversations; make it with on='turn' to judge turns."
            )
        units = units_of(_conversation(given, arguments), self.unit_kind)
        return TurnVerdicts(tuple(await asyncio.gather(*map(self._judged, units))))

    def evaluate_sync(self, given: object = None, /, **arguments: object) -> Verdict:
        """`evaluate` for code without an event loop, and for code within one that must wait."""
        self._require_own_judge()
        return self._thread.call(self.evaluate(given, **arguments))

    def evaluate_turns_sync(self, given: object = None, /, **arguments: object) -> TurnVerdicts:
        self._require_own_judge()
        return self._thread.call(self.evaluate_turns(given, **arguments))

    async def aclose(self) -> None:
        """Ends the judge of this event loop, and the thread of the calls that waited."""
        _, judge = self._made.pop(asyncio.get_running_loop(), (None, None))
        if judge is not None:
            await judge.shutdown()
        if self._thread.is_running:
            await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Ends what the calls that waited made."""
        if self._thread.is_running:
            self._thread.call(self._close_judge())
        self._thread.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _judged(self, unit: Unit) -> Verdict:
        return await evaluate_unit(unit, self._here(), clock=self._clock)

    def _here(self) -> EvaluatorSetup:
        """The evaluator of this event loop: connections cannot be shared between loops."""
        loop = asyncio.get_running_loop()
        made = self._made.get(loop)
        if made is None:
            own = self._connected(self._judge) if isinstance(self._judge, JudgeConfig) else None
            judge = own if own is not None else self._judge if isinstance(self._judge, Judge) else None
            made = self._made[loop] = (self._setup(judge), own)
        return made[0]

    def _connected(self, config: JudgeConfig) -> Judge:
        return connect(config, fence_secret=self._fence_secret, clock=self._clock, ledger=self._ledger)

    def _setup(self, judge: Judge | None) -> EvaluatorSetup:
        if not isinstance(self._kind, str):
            return EvaluatorSetup(self._kind)
        return make_setup(self._kind, self._options, registry=self._registry, judge=judge)

    def _require_own_judge(self) -> None:
        if isinstance(self._judge, Judge):
            raise EvaluatorConfigError(
                "A judge that is given serves one event loop; give a JudgeConfig to the evaluator to call it without."
            )

    async def _close_judge(self) -> None:
        _, judge = self._made.pop(asyncio.get_running_loop(), (None, None))
        if judge is not None:
            await judge.shutdown()


def make_evaluator(
    kind: str | Evaluator,
    *,
    judge: Judge | JudgeConfig | None = None,
    registry: EvaluatorRegistry | None = None,
    clock: Clock | None = None,
    cache: bool = True,
    **options: object,
) -> OfflineEvaluator:
    """The evaluator `kind` (built in, or of a plug-in) with its options as in the configuration, `on` among them; or
    an evaluator of one's own, as it is.

    Raises `EvaluatorConfigError`. Without a judge only the deterministic evaluators answer. `cache`: the same question
    again is answered from memory, where the evaluator makes its own judge.
    """
    return OfflineEvaluator(kind, options, judge=judge, registry=registry, clock=clock, cache=cache)


def _conversation(given: object, arguments: Mapping[str, object]) -> Conversation:
    if given is None and not arguments:
        raise MissingArgumentError(
            "conversation", "The argument conversation is missing: give turns, messages, or query and response."
        )
    if given is not None and arguments:
        names = ", ".join(sorted(arguments))
        raise InputFormError(f"A conversation was given twice: as a value, and as the arguments {names}.")
    conversation = conversation_from(dict(arguments) if given is None else given)
    if not conversation.turns:
        raise InputFormError("The conversation has no turn; give at least one.")
    return conversation
