"""The tables about evaluators: their options, the keys of each form of rule, the built-in checks.

Options of evaluators are read by their factories and not declared anywhere, so they are found by making each evaluator:
what a factory asks for is an option, with its default, and what it says about a value of a wrong type is its form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from docs.generate.evaluator_texts import COMMON, OPTIONS, REQUIRED, RULE_KEYS
from docs.generate.markdown import code, sentence, table
from evaluators.checks.lexicon import ACTIONS
from evaluators.checks.registry import make_checks
from evaluators.errors import EvaluatorConfigError
from evaluators.pipeline.setup import make_setup
from evaluators.registry import EvaluatorRegistry, EvaluatorRequest
from evaluators.rubric.reading import CRITERION_KEYS, RUBRIC_KEYS
from evaluators.rules.declared import _COMMON, _FORMS
from evaluators.rules.turns import FIELDS

_MUST = re.compile(r"must be (.+?)(?:, not .*)?\.$", re.DOTALL)


class _Asked(Mapping[str, object]):
    """Options of which only what cannot be left out is set; remembers what was asked for, with the default."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self.defaults: dict[str, object] = {}
        self._given = given

    def get(self, key: str, default: object = None) -> object:
        self.defaults[key] = default
        return self._given.get(key, default)

    def __getitem__(self, key: str) -> object:
        return self._given[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


def registry() -> EvaluatorRegistry:
    """The built-in evaluators, whatever else is installed."""
    return EvaluatorRegistry(plugins=())


def options_by_evaluator() -> Mapping[str, Mapping[str, object]]:
    """Every option of every evaluator with its default."""
    found: dict[str, Mapping[str, object]] = {}
    for kind in registry().names:
        asked = _Asked(REQUIRED.get(kind, {}))
        registry().make(kind, EvaluatorRequest(name=kind, options=asked))
        found[kind] = asked.defaults
    return found


def evaluator_overview() -> str:
    rows = []
    for kind in registry().names:
        setup = make_setup(kind, REQUIRED.get(kind, {}), registry=registry(), judge=None)
        judge = "built in" if setup.evaluator.judge_name == "builtin" else "a model"
        rows.append([code(kind), code(setup.evaluator.unit_kind), judge])
    return table(["evaluator", "asked about each, by default", "who answers"], rows)


def common_options() -> str:
    rows = [[code(name), _common_form(name), default, text] for name, (default, text) in COMMON.items()]
    return table(["option", "form", "default", "what it does"], rows)


def evaluator_options() -> str:
    parts = []
    for kind, options in options_by_evaluator().items():
        rows = [
            [code(name), _own_form(kind, name), _default(default), OPTIONS[kind][name]]
            for name, default in options.items()
        ]
        parts.append(f"### {code(kind)}\n\n{table(['option', 'form', 'default', 'what it does'], rows)}")
    return "\n\n".join(parts)


def rule_forms() -> str:
    rows = [[code(name), ", ".join(code(key) for key in (*form.keys, *_COMMON))] for name, form in _FORMS.items()]
    return table(["form", "keys that it may have besides"], rows)


def rule_keys() -> str:
    known = {*_COMMON, *(key for form in _FORMS.values() for key in form.keys)}
    return table(["key", "what it says"], [[code(key), text] for key, text in RULE_KEYS.items() if key in known])


def turn_fields() -> str:
    return table(["field", "what it is"], [[code(name), text] for name, (text, _) in FIELDS.items()])


def rubric_keys() -> str:
    return table(["key", "what it says"], [[code(key), text] for key, text in RUBRIC_KEYS.items()])


def criterion_keys() -> str:
    return table(["key", "what it says"], [[code(key), text] for key, text in CRITERION_KEYS.items()])


def checks() -> str:
    rows = [[code(check.name), sentence(check.demand)] for check in make_checks()]
    languages = sorted({language for action in ACTIONS for language in action.forms})
    actions = ", ".join(sorted(action.name for action in ACTIONS))
    return (
        f"{table(['check', 'what it demands'], rows)}\n\n"
        f"Claims of an action are found in these languages: {', '.join(languages)}. The actions: {actions}."
    )


def _own_form(kind: str, name: str) -> str:
    return _form(kind, {name: object()})


def _common_form(name: str) -> str:
    return _form("rules", {name: object()})


def _form(kind: str, options: Mapping[str, object]) -> str:
    """What the evaluator says that a value which is nothing of the kind must be."""
    try:
        make_setup(kind, {**REQUIRED.get(kind, {}), **options}, registry=registry(), judge=None)
    except EvaluatorConfigError as err:
        found = _MUST.search(str(err))
        if found is not None:
            return found[1]
    raise LookupError(f"The evaluator {kind!r} takes anything for {', '.join(options)}; nothing tells its form.")


def _default(value: object) -> str:
    match value:
        case None:
            return "not set"
        case () | []:
            return "none"
        case bool():
            return code(str(value).lower())
        case float():
            return code(f"{value:g}")
        case _:
            return code(value)
