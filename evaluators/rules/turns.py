"""Turns: what each one took and used, and what was asked and answered in it.

What the telemetry does not hold of a turn (its time, its tokens, the price of its model) is unknown, and nothing is
concluded from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from collector.model import JsonValue, MessageStep, ToolCallStep, ToolResultStep, Turn
from evaluators.finding import Breach, Finding, concluded
from evaluators.judge.prices import LIST_PRICES, cost_usd, price_of
from evaluators.rules.conditions import Condition, Reference, test_value, words
from evaluators.timeline import Timeline, is_retrieved
from evaluators.transcript.values import value_text
from evaluators.verdict import Evidence

_MAX_QUOTE_CHARS = 200
_NANOSECONDS = 1e9


def _latency_s(turn: Turn) -> float | None:
    return (turn.end_ns - turn.start_ns) / _NANOSECONDS if 0 < turn.start_ns <= turn.end_ns else None


def _total_tokens(turn: Turn) -> int | None:
    if turn.input_tokens is None or turn.output_tokens is None:
        return None
    return turn.input_tokens + turn.output_tokens


def _cost_usd(turn: Turn) -> float | None:
    """As given; else at list price and without a provider's cache, since turns do not say what came from one."""
    if turn.cost_usd is not None:
        return turn.cost_usd
    price = price_of(turn.model, overrides={}, list_prices=LIST_PRICES) if turn.model else None
    if price is None or turn.input_tokens is None or turn.output_tokens is None:
        return None
    return cost_usd(price, input_tokens=turn.input_tokens, cached_input_tokens=0, output_tokens=turn.output_tokens)


def _said(turn: Turn) -> str | None:
    words = [step.text for step in turn.steps if isinstance(step, MessageStep)]
    return "\n".join(words + ([] if turn.output is None else [turn.output])) if words or turn.output else None


def _retrieved(turn: Turn) -> str | None:
    found = [value_text(step.result) for step in turn.steps if isinstance(step, ToolResultStep) and is_retrieved(step)]
    return "\n".join(found) or None


FIELDS: Mapping[str, tuple[str, Callable[[Turn], JsonValue]]] = {
    "latency_s": ("Seconds from the start to the end of the turn.", _latency_s),
    "input_tokens": ("Tokens of input that the agent's model calls of the turn took.", lambda turn: turn.input_tokens),
    "output_tokens": ("Tokens of output of these calls.", lambda turn: turn.output_tokens),
    "total_tokens": ("Both together.", _total_tokens),
    "cost_usd": ("Their cost, as given or at the list price of the turn's model; else unknown.", _cost_usd),
    "calls": (
        "Number of tool calls.",
        lambda turn: sum(isinstance(step, ToolCallStep) for step in turn.steps),
    ),
    "steps": ("Number of messages, calls, results and handoffs.", lambda turn: len(turn.steps)),
    "user_input": ("What the user wrote.", lambda turn: turn.user_input),
    "answer": ("What the agent said, on the way and in the end.", _said),
    "retrieved": ("What was given as retrieved for the turn, as text.", _retrieved),
    "model": ("The model that answered.", lambda turn: turn.model),
    "agent": ("The agent's name.", lambda turn: turn.agent),
    "status": ("`ok`, `error` or `incomplete`.", lambda turn: turn.status.value),
}
"""What a rule may demand of a turn, with what it is."""


@dataclass(frozen=True, slots=True)
class EachTurn:
    demands: tuple[Condition, ...]
    where: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        condition = f" where {words(self.where)}" if self.where else ""
        return f"in each turn{condition}, {words(self.demands)}"

    def check(self, timeline: Timeline) -> Finding:
        breaches: list[Breach] = []
        unknown: list[str] = []
        seen = 0
        for turn in timeline.judged_turns:
            concerned = [_holds(condition, turn) for condition in self.where]
            if False in concerned:
                continue
            answers = [(condition, _holds(condition, turn)) for condition in self.demands]
            broken = [condition for condition, answer in answers if answer is False]
            missing = [condition.path for condition, answer in answers if answer is None]
            if None in concerned or (missing and not broken):
                names = missing or [condition.path for condition in self.where]
                unknown.append(f"What {' and '.join(names)} of turn {turn.index} is, is not in the telemetry.")
            elif broken:
                seen += 1
                breaches.append(_breach(turn, broken))
            else:
                seen += 1
        return concluded(breaches=breaches, seen=seen, unknown=unknown)


def _holds(condition: Condition, turn: Turn) -> bool | None:
    value = FIELDS[condition.path][1](turn)
    if value is None:
        return None
    answers = [test_value(test, value, _nothing) for test in condition.tests]
    if False in answers:
        return False
    return None if None in answers else True


def _nothing(_: Reference) -> JsonValue:
    """Turns have no results to refer to; the reader refuses such operands."""
    return None


def _breach(turn: Turn, broken: list[Condition]) -> Breach:
    found = " and ".join(f"{condition.path} is {_shown(FIELDS[condition.path][1](turn))}" for condition in broken)
    text = turn.output or turn.user_input
    evidence = (Evidence(turn.index, None, text[:_MAX_QUOTE_CHARS], turn.span_id),) if text else ()
    return Breach(f"In turn {turn.index} {found}, where {words(broken)} is demanded.", evidence)


def _shown(value: JsonValue) -> str:
    """Texts are in the evidence; here they would only repeat it."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"a text of {len(value)} characters" if isinstance(value, str) and len(value) > 40 else str(value)
