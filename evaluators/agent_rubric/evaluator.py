"""The evaluator `agent_rubric`: what the agent's own prompt and tools demand of it, criterion by criterion.

The rubric of a version is compiled by the first unit of that version, once, and kept; people may change it. Compiling
that fails fails the units that need it and no other evaluator, and is not tried again for every unit.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import structlog

from collector.clock import Clock
from collector.model import Conversation
from evaluators.agent_rubric.agent_version import AgentVersion, agent_version_of
from evaluators.agent_rubric.compiler import RubricCompiler, compiler_version
from evaluators.agent_rubric.shelf import Shelf, Shelved
from evaluators.asking import NO_JUDGE, Asking, ask, failed, without_judge
from evaluators.assessable import not_assessable, why_not_assessable
from evaluators.carrying import Memory
from evaluators.content import digest_of
from evaluators.errors import EvaluatorConfigError
from evaluators.evaluator import Judgement
from evaluators.facts import Facts
from evaluators.judge.errors import JudgeError
from evaluators.judge.judge import Judge
from evaluators.rubric.answer import RubricAnswer
from evaluators.rubric.asking import RubricAsking
from evaluators.rubric.model import Rubric
from evaluators.rubric.question import TEXTS
from evaluators.store.states import StateLedger
from evaluators.verdict import JudgeInfo, Outcome, Unit, UnitKind

KIND = "agent_rubric"
_FAILED_FOR_S = 600.0
"""How long a version whose rubric could not be compiled for good is left alone."""
_MAX_ASKINGS = 64

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AgentRubricOptions:
    max_criteria: int = 15
    max_versions: int = 50
    """Of one agent: prompts that are made anew for each conversation must not be compiled for each."""
    threshold: float | None = None
    """None: the rubric's own."""
    include_reason: bool = True


class AgentRubric:
    version = "1"

    def __init__(
        self,
        options: AgentRubricOptions = AgentRubricOptions(),
        *,
        judge: Judge | None,
        shelf: Shelf,
        clock: Clock,
        name: str = KIND,
        unit_kind: UnitKind = UnitKind.CONVERSATION,
        facts: Facts | None = None,
        states: StateLedger | None = None,
    ) -> None:
        self.name = name
        self.unit_kind = unit_kind
        self._options = options
        self._judge = judge
        self._shelf = shelf
        self._clock = clock
        self._facts = facts
        self._states = states
        self._compiler = RubricCompiler(judge, max_criteria=options.max_criteria) if judge is not None else None
        self._locks: dict[str, asyncio.Lock] = {}
        self._failures: dict[str, tuple[float, JudgeError]] = {}
        self._askings: dict[str, Asking[RubricAnswer]] = {}
        settings = [options.threshold, options.include_reason]
        self._asked = digest_of([compiler_version(max_criteria=options.max_criteria), *TEXTS, settings])

    @property
    def threshold(self) -> float | None:
        return self._options.threshold

    @property
    def judge_name(self) -> str:
        return self._judge.name if self._judge is not None else NO_JUDGE

    @property
    def rubric_version(self) -> str:
        """Of how rubrics are made and asked about, and of people's changes; `details.rubric` has the rubric's own."""
        return digest_of([self._asked, self._shelf.edits_version])[:12]

    async def evaluate(self, unit: Unit) -> Judgement:
        if self._judge is None or self._compiler is None:
            return without_judge()
        why = why_not_assessable(unit)
        if why is not None:
            return not_assessable(*why, judge=self._judge.name)
        version = agent_version_of(unit.conversation)
        if version is None:
            reason = "Neither a system prompt nor a tool's definition is in the telemetry."
            return not_assessable("no_system_prompt", reason, judge=self._judge.name)
        try:
            shelved, spent = await self._rubric(version, unit.conversation, self._compiler)
        except JudgeError as err:
            return failed(err, self._judge.name)
        except EvaluatorConfigError as err:
            reason = f"{err} Put it right, or take it away with `adhere rubric restore {version.key}`."
            return Judgement(Outcome.ERROR, error_type="rubric_unreadable", reason=reason)
        if shelved is None:
            reason = (
                f"There are {self._options.max_versions} rubrics of this agent already; its prompt seems to be made"
                " anew for each conversation. Write one for all of them: `adhere rubric edit KEY --all-versions`."
            )
            return not_assessable("too_many_versions", reason, judge=self._judge.name)
        if not shelved.rubric.criteria:
            reason = "The system prompt and the tools demand nothing that could be checked."
            return _spent_too(not_assessable("no_demands", reason, judge=self._judge.name), spent)
        rubric = self._as_configured(shelved.rubric)
        memory = Memory(self._states, owner=(self.name, self.version, self._asked, rubric.version))
        judgement = await ask(self._asking(rubric), unit, self._judge, memory=memory)
        about = {
            "rubric_key": shelved.key,
            "rubric_edited": shelved.is_edited,
            "prompt_injection_suspected": bool(shelved.about.get("injection_suspected")),
        }
        return _spent_too(replace(judgement, details={**judgement.details, **about}), spent)

    async def _rubric(
        self, version: AgentVersion, conversation: Conversation, compiler: RubricCompiler
    ) -> tuple[Shelved | None, JudgeInfo | None]:
        """One unit compiles, the others of the same version wait for it."""
        found = self._shelf.find(version)
        if found is not None:
            return found, None
        lock = self._locks.setdefault(version.key, asyncio.Lock())
        try:
            async with lock:
                found = self._shelf.find(version)
                if found is not None:
                    return found, None
                self._raise_known_failure(version)
                if await asyncio.to_thread(self._shelf.count, version) >= self._options.max_versions:
                    return None, None
                return await self._compiled(version, conversation, compiler)
        finally:
            if not lock.locked():
                self._locks.pop(version.key, None)

    async def _compiled(
        self, version: AgentVersion, conversation: Conversation, compiler: RubricCompiler
    ) -> tuple[Shelved, JudgeInfo]:
        try:
            compiled = await compiler.compile(conversation, name=version.name)
        except JudgeError as err:
            if not err.error_type.retryable:
                self._failures[version.key] = (self._clock.monotonic_s() + _FAILED_FOR_S, err)
            log.warning("rubric not compiled", rubric=version.key, error_type=err.error_type.value)
            raise
        at = datetime.fromtimestamp(self._clock.now_ns() / 1e9, tz=UTC).isoformat(timespec="seconds")
        about = {
            "compiled_by": compiled.info.name,
            "compiled_at": at,
            "injection_suspected": compiled.injection_suspected or None,
        }
        shelved = await asyncio.to_thread(self._shelf.keep, version, compiled.rubric, about=about)
        log.info("rubric compiled", rubric=version.key, criteria=len(compiled.rubric.criteria))
        return shelved, compiled.info

    def _raise_known_failure(self, version: AgentVersion) -> None:
        now_s = self._clock.monotonic_s()
        self._failures = {key: known for key, known in self._failures.items() if known[0] > now_s}
        if version.key in self._failures:
            err = self._failures[version.key][1]
            raise JudgeError(err.error_type, f"The agent's rubric could not be compiled: {err}")

    def _as_configured(self, rubric: Rubric) -> Rubric:
        return rubric if self._options.threshold is None else replace(rubric, threshold=self._options.threshold)

    def _asking(self, rubric: Rubric) -> Asking[RubricAnswer]:
        """Kept by version, since making its schema takes longer than a verdict."""
        found = self._askings.get(rubric.version)
        if found is None:
            found = RubricAsking(
                rubric, kind=KIND, include_reason=self._options.include_reason, facts=self._facts
            ).asking
            if len(self._askings) >= _MAX_ASKINGS:
                self._askings.clear()
            self._askings[rubric.version] = found
        return found


def _spent_too(judgement: Judgement, spent: JudgeInfo | None) -> Judgement:
    """The unit that had the rubric compiled bears what that took."""
    if spent is None:
        return judgement
    own = judgement.judge
    costs = [info.cost_usd for info in (own, spent) if info.calls]
    judge = replace(
        own,
        calls=own.calls + spent.calls,
        input_tokens=own.input_tokens + spent.input_tokens,
        cached_input_tokens=own.cached_input_tokens + spent.cached_input_tokens,
        output_tokens=own.output_tokens + spent.output_tokens,
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        duration_s=own.duration_s + spent.duration_s,
    )
    return replace(judgement, judge=judge)
