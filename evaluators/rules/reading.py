"""Reads one rule's keys: names of tools, and conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from collector.model import JsonValue
from evaluators.nearest import did_you_mean
from evaluators.options import OptionReader
from evaluators.pattern import Pattern, PatternError
from evaluators.rules.conditions import OPERATORS, WHOLE, Condition, Reference, Test, number
from evaluators.rules.tools import Tools


class RuleReader(OptionReader):
    """`place` is the rule's own, such as `rules[2]`."""

    def tools(self, key: str, *, required: bool = True) -> Tools:
        if key not in self._options and not required:
            return Tools(())
        return Tools(self.texts(key, wanted="a tool's name or glob, or a list of them"))

    def conditions(self, key: str) -> tuple[Condition, ...]:
        value = self._options.get(key)
        if value is None:
            return ()
        if not isinstance(value, Mapping) or not value:
            self.problem(key, value, "a mapping of paths to what must be true there, such as {amount: {gt: 100}}")
            return ()
        return tuple(self._condition(f"{key}.{path}", str(path), wanted) for path, wanted in value.items())

    def fields(self, key: str, *, of: Iterable[str], required: bool = False) -> tuple[Condition, ...]:
        """Conditions on named fields, of which there are no others, compared with plain values only."""
        known = list(of)
        if required and self._options.get(key) is None:
            self.problem(key, None, f"a mapping of {', '.join(known)} to what must be true of them")
        found = self.conditions(key)
        for condition in found:
            if condition.path not in known:
                hint = did_you_mean(condition.path, known)
                self._problems.append(f"{self._place}.{key}.{condition.path}: there is no such field; {hint}")
            if any(isinstance(test.operand, Reference) for test in condition.tests):
                self.problem(f"{key}.{condition.path}", "result_of", "a plain value: a field has no result to refer to")
        return found

    def _condition(self, key: str, path: str, wanted: object) -> Condition:
        if isinstance(wanted, Mapping):
            if not wanted:
                self.problem(key, wanted, "a value or a mapping of operators")
            return Condition(
                path, tuple(self._test(f"{key}.{name}", str(name), value) for name, value in wanted.items())
            )
        if isinstance(wanted, list | tuple):
            return Condition(path, (self._test(key, "in", wanted),))
        return Condition(path, (self._test(key, "eq", wanted),))

    def _test(self, key: str, operator: str, operand: object) -> Test:
        if operator not in OPERATORS:
            hint = did_you_mean(operator, OPERATORS)
            self._problems.append(f"{self._place}.{key}: there is no operator {operator!r}; {hint}")
            return Test("exists", operand=True)
        if isinstance(operand, Mapping) and "result_of" in operand and operator not in ("matches", "exists"):
            return Test(operator, self._reference(key, operand))
        if operator == "exists":
            if not isinstance(operand, bool):
                self.problem(key, operand, "true or false")
            return Test(operator, bool(operand))
        if operator in ("in", "not_in") and not isinstance(operand, list | tuple):
            self.problem(key, operand, "a list of values")
            operand = ()
        is_comparable = isinstance(operand, str | date) or number(operand) is not None
        if operator in ("gt", "gte", "lt", "lte") and not is_comparable:
            self.problem(key, operand, "a number, or a text to compare texts with")
        if operator == "matches":
            return Test(operator, self._pattern(key, operand))
        return Test(operator, self._plain(key, operand))

    def _pattern(self, key: str, operand: object) -> Pattern:
        try:
            if isinstance(operand, str):
                return Pattern(operand)
            self.problem(key, operand, "a regular expression, as a text")
        except PatternError as err:
            self.problem(key, operand, f"a regular expression ({err})")
        return Pattern("")

    def _reference(self, key: str, operand: Mapping[object, object]) -> Reference:
        inner = RuleReader(
            f"{self._place}.{key}", {str(name): value for name, value in operand.items()}, self._problems
        )
        inner.only(("result_of", "path"))
        path = inner.text("path")
        if path is None:
            inner.problem("path", None, "the path of a value in that result")
        return Reference(inner.tools("result_of").patterns, path or WHOLE)

    def _plain(self, key: str, value: object) -> JsonValue:
        if value is None or isinstance(value, str | bool | int | float):
            return value
        if isinstance(value, list | tuple):
            return [self._plain(key, item) for item in value]
        if isinstance(value, Mapping):
            return {str(name): self._plain(key, item) for name, item in value.items()}
        return str(value)  # YAML dates: compared as they are written in ISO form.
