"""Runs declared rules or built-in checks on a conversation."""

from __future__ import annotations

from evaluators.checks.registry import make_checks
from evaluators.evaluator import Judgement
from evaluators.finding import Finding
from evaluators.registry import EvaluatorRequest
from evaluators.rules.declared import read_rules
from evaluators.rules.factory import make_rules
from evaluators.timeline import timeline_of
from evaluators.verdict import Unit
from tests.support.conversations import conversation_unit


def find(rule: dict[str, object], conversation_or_unit) -> Finding:
    """What one rule finds; a conversation is judged as a whole."""
    (declared,) = read_rules([rule])
    return declared.rule.check(timeline_of(_unit(conversation_or_unit)))


def check(name: str, conversation_or_unit) -> Finding:
    """What one built-in check finds."""
    (found,) = [one for one in make_checks() if one.name == name]
    return found.check(timeline_of(_unit(conversation_or_unit)))


def judge(rules: list[dict[str, object]], conversation_or_unit, *, checks: object = True) -> Judgement:
    unit = _unit(conversation_or_unit)
    options = {"rules": rules, "checks": checks}
    return make_rules(EvaluatorRequest(name="rules", unit_kind=unit.kind, options=options)).judge(unit)


def _unit(conversation_or_unit) -> Unit:
    return conversation_or_unit if isinstance(conversation_or_unit, Unit) else conversation_unit(conversation_or_unit)
