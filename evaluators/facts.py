"""What code found in a unit, for a judge to know: declared rules that were broken, and what checks failed.

A judge is told facts and concludes from them itself, so that it need not count calls or compare numbers. Whether a
fact matters for its question is the judge's to say. They are shown behind the record, quoted as content is, since
names and values of the conversation stand in them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from evaluators.transcript.escape import one_line
from evaluators.verdict import Unit

_MAX_FACTS = 12
_MAX_FACT_CHARS = 500
_INLINE_STEPS = 2000
_INLINE_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class Fact:
    turn: int
    """The last turn that it is about."""
    text: str


@runtime_checkable
class FactSource(Protocol):
    def facts(self, unit: Unit) -> Sequence[Fact]: ...


class Facts:
    """Of all sources that are asked about a unit; they are added as evaluators are made, in whatever order."""

    def __init__(self) -> None:
        self._sources: list[tuple[FactSource, Callable[[Unit], bool]]] = []

    def add(self, source: FactSource, *, is_asked: Callable[[Unit], bool]) -> None:
        """`is_asked`: whether the source is asked about a unit."""
        self._sources.append((source, is_asked))

    async def find(self, unit: Unit) -> tuple[Fact, ...]:
        asked = [source for source, is_asked in self._sources if is_asked(unit)]
        if not asked:
            return ()
        if is_large(unit):
            return await asyncio.to_thread(_found, asked, unit)
        return _found(asked, unit)


def facts_text(facts: Sequence[Fact], *, mark: str, first_turn: int, turns: int) -> str:
    """Lines for the end of a record that shows the turns from `first_turn` on, of `turns` in all; empty without any."""
    shown = [fact for fact in facts if first_turn <= fact.turn < turns][:_MAX_FACTS]
    if not shown:
        return ""
    lines = [f"#{mark} facts found by code in the record; what they mean for the question is for you to judge"]
    return "\n".join(lines + [f"| {one_line(fact.text, max_chars=_MAX_FACT_CHARS)}" for fact in shown]) + "\n"


def is_large(unit: Unit) -> bool:
    """Too large to read on the event loop; a cheap guess."""
    turns = unit.conversation.turns
    steps = sum(len(turn.steps) for turn in turns)
    chars = sum(len(turn.output or "") + len(turn.user_input or "") for turn in turns)
    prompt = len(unit.conversation.system_instructions or "")
    results = sum(
        len(step.result)
        for turn in turns
        for step in turn.steps
        if step.kind == "tool_result" and isinstance(step.result, str)
    )
    return steps > _INLINE_STEPS or chars + prompt + results > _INLINE_CHARS


def _found(sources: Sequence[FactSource], unit: Unit) -> tuple[Fact, ...]:
    return tuple(dict.fromkeys(fact for source in sources for fact in source.facts(unit)))
