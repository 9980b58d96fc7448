"""Provenance: values of arguments must come from somewhere, not from the model.

A value is looked for in what came before the call: the user's words, the system prompt, results of tools, and, where
it is allowed, the agent's own answers. Without `arguments`, only values that look like identifiers are checked: they
cannot be worked out from anything, so an identifier that stands nowhere was made up. Dates, times, amounts and measures
can be, so they are none; one that `arguments` names and that is a date or time is never a failure.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from collector.model import GapKind, JsonValue, ToolResultStep
from evaluators.finding import Breach, Finding, concluded
from evaluators.rules.conditions import Condition, at_path, words
from evaluators.rules.mentions import Book, Reading
from evaluators.rules.moments import moment_of
from evaluators.rules.rule import subjects
from evaluators.rules.tools import Tools
from evaluators.timeline import Call, Timeline, leaves
from evaluators.transcript.values import value_text

SOURCES = ("user", "system", "tool", "agent")
_IDENTIFIER = re.compile(r"(?=.*\d)[\w./:#@+-]{4,64}", re.ASCII)
_MEASURE = re.compile(
    r"[+-]?v?\d{1,3}(?:[.,:/x-]\d{1,3})+%?|(?:19|20)\d\d|\d+[.,]\d{1,2}|P(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?|"
    r"\d{1,4}(?:\.\d+)?(?:ms|s|sec|min|h|hr|hrs|days|g|kg|mg|lb|lbs|m|cm|mm|km|mi|ft|kb|mb|gb|tb|eur|usd|gbp|%)",
    re.ASCII | re.IGNORECASE,
)
"""Amounts, versions, shares, years, durations, ranges of hours: numbers with a form of their own."""
_BLIND = frozenset(
    {
        GapKind.CONTENT_OFF,
        GapKind.CONTENT_ELSEWHERE,
        GapKind.USER_INPUT_MISSING,
        GapKind.TOOL_RESULT_MISSING,
        GapKind.TRUNCATED,
        GapKind.ATTRIBUTES_DROPPED,
        GapKind.REDACTED,
        GapKind.HISTORY_UNSEEN,
        GapKind.HISTORY_COMPACTED,
        GapKind.HISTORY_EDITED,
        GapKind.SPANS_MISSING,
        GapKind.UNDECODABLE,
    }
)
"""With any of these before the call, the value may stand in what the telemetry does not hold."""


@dataclass(frozen=True, slots=True)
class Provenance:
    tools: Tools
    arguments: tuple[str, ...] = ()
    sources: tuple[str, ...] = ("user", "system", "tool")
    where: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        what = " and ".join(self.arguments) if self.arguments else "each identifier in the arguments"
        condition = f" where {words(self.where)}" if self.where else ""
        return f"{what} of {self.tools}{condition} must come from {' or '.join(map(_source_words, self.sources))}"

    def check(self, timeline: Timeline) -> Finding:
        found, unknown = subjects(timeline, self.tools, self.where)
        breaches: list[Breach] = []
        book, pages = self._book(timeline) if found else (Book(), [])
        for call in found:
            before = bisect_left(pages, call.order)
            found_there = [(name, value, book.holds(value, first=before)) for name, value in self._values(call)]
            missing = [(name, value) for name, value, is_there in found_there if is_there is False]
            if not missing:
                if any(is_there is None for _, _, is_there in found_there):
                    unknown.append(f"A date or time of {call.name} ({call.place}) may be worked out from other words.")
                continue
            if any(_BLIND.intersection(turn.gaps) for turn in timeline.turns if turn.index <= call.turn.index):
                unknown.append(f"Not everything before {call.name} ({call.place}) is in the telemetry.")
                continue
            shown = ", ".join(f"{name} {value_text(value)[:80]}".strip() for name, value in missing)
            sources = " or ".join(map(_source_words, self.sources))
            reason = f"{call.name} ({call.place}) was called with {shown}, which does not come from {sources}."
            breaches.append(Breach(reason, (call,)))
        return concluded(breaches=breaches, seen=len(found), unknown=unknown)

    def _values(self, call: Call) -> Iterator[tuple[str, JsonValue]]:
        if not self.arguments:
            yield from (("", leaf) for leaf in leaves(call.arguments) if isinstance(leaf, str) and _is_identifier(leaf))
            return
        for name in self.arguments:
            for value in at_path(call.arguments, name):
                if value is not None:
                    yield name, value

    def _book(self, timeline: Timeline) -> tuple[Book, list[float]]:
        """The sources in order, and for each the place in the order of steps after which it was known."""
        book = Book()
        pages: list[float] = []
        for order, text in self._texts(timeline):
            book.add(Reading(text))
            pages.append(order)
        return book, pages

    def _texts(self, timeline: Timeline) -> Iterator[tuple[float, str]]:
        conversation = timeline.unit.conversation
        if "system" in self.sources and conversation.system_instructions:
            yield -1, conversation.system_instructions
        order = 0
        for turn in timeline.turns:
            if "user" in self.sources and turn.user_input:
                yield order - 0.5, turn.user_input
            for number, step in enumerate(turn.steps):
                if isinstance(step, ToolResultStep) and self._is_source(step):
                    yield order + number, _said(step.result)
            order += len(turn.steps)
            if "agent" in self.sources and turn.output:
                yield order - 0.5, turn.output

    def _is_source(self, step: ToolResultStep) -> bool:
        named = tuple(source.removeprefix("tool:") for source in self.sources if source.startswith("tool:"))
        return "tool" in self.sources or (bool(named) and step.name is not None and Tools(named).match(step.name))


def _is_identifier(text: str) -> bool:
    return bool(_IDENTIFIER.fullmatch(text)) and not _MEASURE.fullmatch(text) and moment_of(text) is None


def _said(result: JsonValue) -> str:
    return "\n".join(map(str, leaves(result, keys=True)))


def _source_words(source: str) -> str:
    words = {
        "user": "the user",
        "system": "the system prompt",
        "tool": "a tool's result",
        "agent": "the agent's answers",
    }
    return words.get(source) or f"a result of {source.removeprefix('tool:')}"
