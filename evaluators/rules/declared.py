r"""Declared rules: what each form of rule is made from.

    {before: issue_refund, require: verify_identity, require_result: {verified: true}, same: customer_id}
    {after: edit_file, require: run_tests}                     in the same turn, or within: conversation
    {require: log_contact}                                     at some time in the conversation, or within: turn
    {never: drop_table}      {never: run_sql, where: {query: {matches: "(?i)\bdelete\b"}}}
    {max_calls: 20}          {max_calls: 1, tool: issue_refund, within: conversation}      {min_calls: 1, tool: search}
    {max_repeats: 2}                                           the same call with the same arguments
    {confirm: issue_refund, mention: amount}                   the user answers a proposal before the call
    {provenance: issue_refund, arguments: order_id}            values come from the user, the system prompt or a result
    {turn: {latency_s: {lte: 30}}, where: {agent: triage}}     what a turn may take, use and say

Each also takes `name` and `message`; where it makes sense `where` (conditions on the call's arguments), `within`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from evaluators.errors import EvaluatorConfigError
from evaluators.nearest import did_you_mean, nearest
from evaluators.options import shown
from evaluators.rules.confirmation import Confirmed
from evaluators.rules.counts import MaxCalls, MaxRepeats, MinCalls
from evaluators.rules.order import After, Before, Required
from evaluators.rules.presence import Never, Presence
from evaluators.rules.provenance import SOURCES, Provenance
from evaluators.rules.reading import RuleReader
from evaluators.rules.rule import Rule, Within
from evaluators.rules.turns import FIELDS, EachTurn

_COMMON = ("name", "message")
_REQUIRED = ("require", "require_where", "require_result")


@dataclass(frozen=True, slots=True)
class DeclaredRule:
    name: str
    """Given, or its place, such as `rules[0]`."""
    rule: Rule
    message: str | None = None
    """What to tell people when it is broken, in the words of whoever declared it."""
    source: Mapping[str, object] = field(default_factory=dict)
    """As it was declared. Two rules may read alike in words, such as a list of `a, b` and one of `a` and `b`."""


@dataclass(frozen=True, slots=True)
class _Form:
    keys: tuple[str, ...]
    make: Callable[[RuleReader], Rule]


def _within(reader: RuleReader, default: Within) -> Within:
    return cast("Within", reader.choice("within", default, of=("turn", "conversation")))  # One of these two.


def _required(reader: RuleReader, *, same: bool = False) -> Required:
    return Required(
        tools=reader.tools("require"),
        where=reader.conditions("require_where"),
        result=reader.conditions("require_result"),
        same=reader.texts("same", wanted="an argument's name, or a list of them", default=()) if same else (),
    )


def _before(reader: RuleReader) -> Rule:
    return Before(
        reader.tools("before"),
        _required(reader, same=True),
        reader.conditions("where"),
        _within(reader, "conversation"),
    )


def _after(reader: RuleReader) -> Rule:
    return After(
        reader.tools("after"), _required(reader, same=True), reader.conditions("where"), _within(reader, "turn")
    )


def _never(reader: RuleReader) -> Rule:
    return Never(reader.tools("never"), reader.conditions("where"), reader.conditions("result"))


def _presence(reader: RuleReader) -> Rule:
    return Presence(_required(reader), _within(reader, "conversation"))


def _max_calls(reader: RuleReader) -> Rule:
    return MaxCalls(
        reader.count("max_calls", low=0),
        reader.tools("tool", required=False),
        reader.conditions("where"),
        _within(reader, "conversation"),
    )


def _min_calls(reader: RuleReader) -> Rule:
    return MinCalls(
        reader.count("min_calls", low=1),
        reader.tools("tool", required=False),
        reader.conditions("where"),
        _within(reader, "conversation"),
    )


def _max_repeats(reader: RuleReader) -> Rule:
    return MaxRepeats(reader.count("max_repeats", low=1), reader.tools("tool", required=False), _within(reader, "turn"))


def _confirm(reader: RuleReader) -> Rule:
    mention = reader.texts("mention", wanted="an argument's name, or a list of them", default=())
    return Confirmed(reader.tools("confirm"), reader.conditions("where"), mention)


def _provenance(reader: RuleReader) -> Rule:
    return Provenance(
        reader.tools("provenance"),
        reader.texts("arguments", wanted="an argument's name, or a list of them", default=()),
        reader.choices("from", ("user", "system", "tool"), of=SOURCES, prefix="tool:"),
        reader.conditions("where"),
    )


def _turn(reader: RuleReader) -> Rule:
    return EachTurn(reader.fields("turn", of=FIELDS, required=True), reader.fields("where", of=FIELDS))


_FORMS: Mapping[str, _Form] = {
    "before": _Form((*_REQUIRED, "same", "where", "within"), _before),
    "after": _Form((*_REQUIRED, "same", "where", "within"), _after),
    "never": _Form(("where", "result"), _never),
    "max_calls": _Form(("tool", "where", "within"), _max_calls),
    "min_calls": _Form(("tool", "where", "within"), _min_calls),
    "max_repeats": _Form(("tool", "within"), _max_repeats),
    "confirm": _Form(("where", "mention"), _confirm),
    "provenance": _Form(("arguments", "from", "where"), _provenance),
    "turn": _Form(("where",), _turn),
    "require": _Form((*_REQUIRED[1:], "within"), _presence),
}
"""Ordered: `require` alone is presence, beside `before` or `after` it is a part of them."""


def read_rules(rules: object, *, place: str = "rules") -> tuple[DeclaredRule, ...]:
    """Raises one `EvaluatorConfigError` that holds every problem."""
    if not isinstance(rules, list | tuple):
        raise EvaluatorConfigError(f"{place} is {shown(rules)} and must be a list of rules, each a mapping.")
    problems: list[str] = []
    found = [_read(f"{place}[{index}]", f"rules[{index}]", rule, problems) for index, rule in enumerate(rules)]
    _check_names([one for one in found if one is not None], problems)
    if problems:
        raise EvaluatorConfigError("\n".join(problems))
    return tuple(one for one in found if one is not None)


def _read(place: str, name: str, rule: object, problems: list[str]) -> DeclaredRule | None:
    if not isinstance(rule, Mapping):
        problems.append(f"{place} is {shown(rule)} and must be a mapping, such as {{never: drop_table}}.")
        return None
    keys = [str(key) for key in rule]
    forms = [form for form in _FORMS if form in keys and not (form == "require" and {"before", "after"} & set(keys))]
    if len(forms) != 1:
        problems.append(_no_one_form(place, keys, forms))
        return None
    form = _FORMS[forms[0]]
    reader = RuleReader(place, {str(key): value for key, value in rule.items()}, problems)
    reader.only((forms[0], *form.keys, *_COMMON))
    made = form.make(reader)
    return DeclaredRule(reader.text("name") or name, made, reader.text("message"), source=rule)


def _no_one_form(place: str, keys: Sequence[str], forms: Sequence[str]) -> str:
    if forms:
        return f"{place} holds {' and '.join(forms)}; a rule is one of them, so make it {len(forms)} rules."
    for key in keys:
        if nearest(key, _FORMS) is not None:
            return f"{place}.{key}: there is no such rule; {did_you_mean(key, _FORMS)}"
    return f"{place} has the keys {', '.join(keys) or '(none)'}; a rule has one of {', '.join(_FORMS)}."


def _check_names(rules: Sequence[DeclaredRule], problems: list[str]) -> None:
    names = [rule.name for rule in rules]
    problems.extend(
        f"Two rules are named {name!r}; names must differ." for name in dict.fromkeys(names) if names.count(name) > 1
    )
