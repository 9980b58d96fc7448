"""Makes the evaluator `rules` of its configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluators.checks.check import Check
from evaluators.checks.registry import make_checks
from evaluators.errors import EvaluatorConfigError
from evaluators.nearest import did_you_mean
from evaluators.options import OptionReader, shown
from evaluators.registry import EvaluatorRequest
from evaluators.rules.counts import MinCalls
from evaluators.rules.declared import DeclaredRule, read_rules
from evaluators.rules.evaluator import RulesEvaluator
from evaluators.rules.presence import Presence
from evaluators.verdict import UnitKind

_OPTIONS = ("rules", "checks")


def make_rules(request: EvaluatorRequest) -> RulesEvaluator:
    """Options: `rules` (a list, none by default), `checks` (true, false, or a list of their names)."""
    options = OptionReader(request.name, request.options)
    options.leave(_OPTIONS)
    options.finish()
    unit_kind = request.unit_kind or UnitKind.TURN
    rules = read_rules(request.options.get("rules") or (), place=f"{request.name}.rules")
    if unit_kind is UnitKind.TURN:
        _refuse_whole_conversation_rules(rules)
    return RulesEvaluator(rules, _checks(request.name, request.options), name=request.name, unit_kind=unit_kind)


def _refuse_whole_conversation_rules(rules: Sequence[DeclaredRule]) -> None:
    """They would never apply to a turn, and nobody would notice."""
    for declared in rules:
        if isinstance(declared.rule, Presence | MinCalls) and declared.rule.within == "conversation":
            raise EvaluatorConfigError(
                f"The rule {declared.name} ({declared.rule}) can be judged on a whole conversation only; set"
                " `on: conversation` for an entry of its own, or `within: turn` on the rule."
            )


def _checks(name: str, options: Mapping[str, object]) -> tuple[Check, ...]:
    wanted = options.get("checks", True)
    known = {check.name: check for check in make_checks()}
    if isinstance(wanted, bool):
        return tuple(known.values()) if wanted else ()
    if not isinstance(wanted, list | tuple):
        raise EvaluatorConfigError(f"{name}.checks is {shown(wanted)} and must be true, false or a list of checks.")
    for check in wanted:
        if check not in known:
            raise EvaluatorConfigError(f"{name}.checks: there is no check {check!r}; {did_you_mean(check, known)}")
    return tuple(known[check] for check in wanted)
