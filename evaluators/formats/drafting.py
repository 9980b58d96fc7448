"""Turns while they are put together from what was given: everything is kept, in its order.

A turn begins with the user's words; user messages in a row are one input. The last thing that the agent says, with no
call in the same message, is the turn's output; what it says before is a step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from collector.model import GapKind, JsonValue, MessageStep, Step, ToolCallStep, ToolResultStep


@dataclass(frozen=True, slots=True)
class Measures:
    """What a turn took, where it was given."""

    start_ns: int = 0
    end_ns: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(slots=True)
class TurnDraft:
    asked: list[str] = field(default_factory=list)
    """What the user said, in pieces; empty where the agent spoke first."""
    steps: list[Step] = field(default_factory=list)
    output: str | None = None
    gaps: set[GapKind] = field(default_factory=set)
    measures: Measures = Measures()

    @property
    def user_input(self) -> str | None:
        return "\n\n".join(filter(None, self.asked)) if self.asked else None

    @property
    def has_agent(self) -> bool:
        return bool(self.steps) or self.output is not None

    def close(self) -> None:
        """The last words become the output."""
        last = self.steps[-1] if self.steps else None
        if self.output is None and isinstance(last, MessageStep):
            self.output = last.text
            self.steps.pop()


class Drafting:
    """Takes what was said and done, one after the other."""

    def __init__(self) -> None:
        self.turns: list[TurnDraft] = []
        self._system: dict[str, None] = {}
        self._groups = 0

    def instruct(self, text: str) -> None:
        if text.strip():
            self._system.setdefault(text)

    @property
    def system(self) -> list[str]:
        """Each text once, in its order."""
        return list(self._system)

    def ask(self, text: str) -> None:
        if not self.turns or self.turns[-1].has_agent:
            self.begin(text)
            return
        self.turns[-1].asked.append(text)

    def begin(self, text: str | None) -> TurnDraft:
        """A turn of its own, whatever was before it."""
        self._groups = 0
        self.turns.append(TurnDraft(asked=[] if text is None else [text]))
        return self.turns[-1]

    def say(self, text: str, *, agent: str | None = None) -> None:
        self._current.steps.append(MessageStep(text, agent=agent))

    def call(self, calls: Iterable[ToolCallStep]) -> None:
        """The calls of one message."""
        turn, group, self._groups = self._current, self._groups, self._groups + 1
        turn.steps += [
            ToolCallStep(call.name, call.arguments, call_id=call.call_id, agent=call.agent, group=group)
            for call in calls
        ]

    def give(
        self, result: JsonValue, *, name: str | None = None, call_id: str | None = None, is_error: bool = False
    ) -> None:
        self._current.steps.append(ToolResultStep(result, name=name, call_id=call_id, is_error=is_error))

    @property
    def _current(self) -> TurnDraft:
        """What comes before any user's words belongs to a first turn without input."""
        return self.turns[-1] if self.turns else self.begin(None)

    def mark(self, gaps: Iterable[GapKind]) -> None:
        if self.turns:
            self.turns[-1].gaps.update(gaps)
