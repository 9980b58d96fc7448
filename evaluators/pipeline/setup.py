"""One configured evaluator: which units it is asked about, and how it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from evaluators.agent_rubric.shelf import RubricShelf
from evaluators.errors import EvaluatorConfigError
from evaluators.evaluator import Evaluator
from evaluators.facts import Facts, FactSource
from evaluators.judge.judge import Judge
from evaluators.jury import JuryEvaluator
from evaluators.options import OptionReader, collected
from evaluators.pipeline.filters import KEYS as FILTER_KEYS
from evaluators.pipeline.filters import Filters, read_filters
from evaluators.registry import EvaluatorRegistry, EvaluatorRequest
from evaluators.store.states import StateLedger
from evaluators.verdict import Unit, UnitKind

IMMEDIATE_JUDGES = frozenset({"builtin", "none"})
"""Judges that answer in the process and at once: the deterministic checks, and the judge that is not configured."""

_OWN_KEYS = ("as", "on", "sample", "agents", "services", "incomplete", "after_close", *FILTER_KEYS)
AFTER_CLOSE = ("rescore", "ignore", "reject")
_GLOBS = "a list of names or globs"


@dataclass(frozen=True, slots=True)
class EvaluatorSetup:
    evaluator: Evaluator
    sample: float = 1.0
    """Share of conversations, 0 to 1; a conversation is in or out as a whole."""
    agents: tuple[str, ...] = ()
    """Names or globs of agents; empty: all."""
    services: tuple[str, ...] = ()
    """Names or globs of services; empty: all."""
    judge_incomplete: bool = False
    """Also judge a turn whose end never arrived."""
    filters: Filters = field(default_factory=Filters)
    after_close: str = "rescore"
    """What a turn means that comes to a conversation which was judged as a whole: judge it anew, let the score stand,
    or decide that it came too late."""
    immediate: bool = False
    """Evaluated as the unit comes in, without waiting on disk; for evaluators that need no one outside."""

    @property
    def name(self) -> str:
        return self.evaluator.name

    def concerns(self, unit: Unit) -> bool:
        """No filter leaves the unit out."""
        conversation = unit.conversation
        is_named = matches(conversation.service, self.services) and matches(conversation.agent.name, self.agents)
        return is_named and self.filters.why_not(unit) is None


def make_setups(
    entries: Iterable[tuple[str, Mapping[str, object]]],
    *,
    registry: EvaluatorRegistry,
    judge: object | None,
    states: StateLedger | None = None,
    rubrics: RubricShelf | None = None,
) -> tuple[EvaluatorSetup, ...]:
    """From configuration, (kind, options) each; raises one `EvaluatorConfigError` that holds every problem."""
    setups: list[EvaluatorSetup] = []
    problems: list[str] = []
    facts = Facts()
    for kind, options in entries:
        try:
            setup = make_setup(
                kind, options, registry=registry, judge=judge, states=states, rubrics=rubrics, facts=facts
            )
        except EvaluatorConfigError as err:
            problems.append(str(err))
            continue
        if any(setup.name == other.name for other in setups):
            problems.append(f"Two evaluators are named {setup.name!r}; give one of them another name with `as`.")
        setups.append(setup)
    if problems:
        raise EvaluatorConfigError("\n".join(problems))
    return tuple(setups)


def make_setup(
    kind: str,
    options: Mapping[str, object],
    *,
    registry: EvaluatorRegistry,
    judge: object | None,
    states: StateLedger | None = None,
    rubrics: RubricShelf | None = None,
    facts: Facts | None = None,
) -> EvaluatorSetup:
    own = {key: options[key] for key in _OWN_KEYS if key in options}
    rest = {key: value for key, value in options.items() if key not in _OWN_KEYS}
    problems: list[str] = []
    reader = OptionReader(kind, own, problems)
    unit_kind = reader.choice("on", "", of=tuple(UnitKind)) if own.get("on") is not None else ""
    request = EvaluatorRequest(
        name=reader.text("as") or kind,
        unit_kind=UnitKind(unit_kind) if unit_kind else None,
        options=rest,
        judge=judge,
        states=states,
        rubrics=rubrics,
        facts=facts,
    )
    sample = reader.number("sample", 1.0, low=0, high=1)
    agents = reader.texts("agents", wanted=_GLOBS, default=())
    services = reader.texts("services", wanted=_GLOBS, default=())
    after_close = reader.choice("after_close", AFTER_CLOSE[0], of=AFTER_CLOSE)
    incomplete = reader.choice("incomplete", "skip", of=("judge", "skip"))
    filters = read_filters(kind, own, problems)
    with collected(problems):
        evaluator = _with_jury(registry.make(kind, request), kind, request, registry=registry)
    if problems:
        raise EvaluatorConfigError("\n".join(problems))
    immediate = evaluator.judge_name in IMMEDIATE_JUDGES
    setup = EvaluatorSetup(
        evaluator=evaluator,
        sample=sample,
        agents=agents,
        services=services,
        judge_incomplete=incomplete == "judge" if "incomplete" in own else immediate,
        filters=filters,
        after_close=after_close,
        immediate=immediate,
    )
    if facts is not None and isinstance(evaluator, FactSource):
        facts.add(evaluator, is_asked=setup.concerns)
    return setup


def matches(name: str | None, globs: Sequence[str]) -> bool:
    return not globs or (name is not None and any(fnmatchcase(name, glob) for glob in globs))


def _with_jury(evaluator: Evaluator, kind: str, request: EvaluatorRequest, *, registry: EvaluatorRegistry) -> Evaluator:
    """Where the evaluator asks the judge, and the judge has jurors. These carry nothing from turn to turn."""
    judge = request.judge
    if not isinstance(judge, Judge) or not judge.jurors or evaluator.judge_name != judge.name:
        return evaluator
    alone = replace(request, states=None)
    jurors = [registry.make(kind, replace(alone, judge=juror)) for juror in judge.jurors]
    return JuryEvaluator(evaluator, jurors, config=judge.jury)
