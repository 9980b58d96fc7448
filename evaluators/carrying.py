"""What a judge carries from the turns that it has judged to the ones that come.

A state is made of the judge's answer by code: closed words, numbers and quotes that were found in the conversation when
it was made. It is shown to the next judge as notes, fenced and quoted like everything that came from outside, and it is
bounded: where more would have to be carried, or a quote did not check out, there is no state, and the next judgement
reads the whole conversation again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import msgspec

from evaluators.content import digest_of, prefix_digests
from evaluators.evaluator import Judgement
from evaluators.evidence import Citation
from evaluators.store.states import KeptState, StateLedger
from evaluators.transcript.record import Record, quoted
from evaluators.verdict import Unit

A = TypeVar("A", bound=msgspec.Struct)
S = TypeVar("S", bound=msgspec.Struct)

MAX_PASSES = 64
"""Judgements in a row that build on each other; then the whole is read again."""
MAX_NOTES = 16
MAX_NOTE_CHARS = 160


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that is carried, as it is shown."""

    number: int
    word: str
    """What it is, one of a few words of our own."""
    citation: Citation
    """Where it stands, if anywhere, and what stands there."""

    def lines(self, mark: str) -> str:
        at = f", {self.citation.at}" if self.citation.at else ""
        return f"#{mark} note {self.number}: {self.word}{at}\n{quoted(self.citation.quote)}\n"


@dataclass(frozen=True, slots=True)
class Carrying(Generic[A, S]):
    """How an evaluator judges turn by turn."""

    answer_type: type[A]
    state_type: type[S]
    question: Callable[[Unit, Record, S | None], str]
    """Without a state the whole conversation is shown."""
    notes: Callable[[S], Sequence[Note]]
    conclude: Callable[[A, Unit, Record, S | None], tuple[Judgement, S | None]]
    """The judgement on the whole unit, and the state after it; None where it cannot be carried. Raises
    `UnusableAnswerError`.
    """
    asks_for_notes: bool = False
    """What is carried costs output of the judge, and not only what it answers anyway."""


class Carried(msgspec.Struct, frozen=True):
    """A state with what is known of every one."""

    turns: int
    """Turns that it covers, from the first."""
    passes: int
    """Judgements since the whole was read."""
    tokens: int
    """Of the records that were shown, roughly."""
    shown_chars: int
    total_chars: int
    injection_suspected: bool
    state: msgspec.Raw
    """`null`: it could not be carried, and the next judgement reads the whole."""

    @property
    def carries(self) -> bool:
        return bytes(self.state) != b"null"

    def after(self, record: Record, *, turns: int, injection_suspected: bool, state: msgspec.Raw) -> Carried:
        return Carried(
            turns=turns,
            passes=self.passes + 1,
            tokens=self.tokens + record.tokens,
            shown_chars=self.shown_chars + record.shown_chars,
            total_chars=self.total_chars + record.total_chars,
            injection_suspected=self.injection_suspected or injection_suspected,
            state=state,
        )


NOTHING = Carried(0, -1, 0, 0, 0, False, msgspec.Raw(b"null"))


class Memory:
    """The states of one evaluator; without a ledger it has none."""

    def __init__(self, ledger: StateLedger | None, *, owner: Sequence[str]) -> None:
        """`owner`: the evaluator and its versions."""
        self._ledger = ledger
        self._owner = list(owner)

    def chain(self, unit: Unit, *, judge: str) -> Chain | None:
        if self._ledger is None:
            return None
        return Chain(self._ledger, digest_of([*self._owner, judge, unit.conversation.key]), prefix_digests(unit))


@dataclass(frozen=True, slots=True)
class Chain:
    """The states of one conversation, by how many of its turns they cover."""

    ledger: StateLedger
    key: str
    prefixes: list[str]

    async def recall(self) -> Carried | None:
        """On most of the turns before the last one."""
        kept = await self.ledger.recall(self.key, self.prefixes[:-1])
        if kept is None:
            return None
        try:
            return msgspec.json.decode(kept.body, type=Carried)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None

    async def keep(self, carried: Carried) -> None:
        state = KeptState(carried.turns, msgspec.json.encode(carried))
        await self.ledger.keep(self.key, self.prefixes[carried.turns], state)


def shown(notes: Sequence[Note], *, mark: str) -> str:
    return "".join(note.lines(mark) for note in notes)


def upto(unit: Unit, turns: int) -> Unit:
    """The unit as it was after so many turns."""
    conversation = replace(unit.conversation, turns=unit.conversation.turns[:turns])
    return replace(unit, conversation=conversation, turn_index=turns - 1)


def turn_words(first: int, last: int) -> str:
    return f"turn {first}" if first == last else f"turns {first} to {last}"
