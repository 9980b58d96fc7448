"""Checks that what a judge quotes stands where it says, before its verdict is accepted.

A quote fits a place when it stands there word for word (`wording`): Unicode NFC, straight quotation marks, plain
dashes and single spaces in both. Structured arguments and results fit in any of the forms in which they can be written:
with and without spaces, with JSON escapes, and by their single values. Where no place has it word for word, the same
words with other punctuation or an ellipsis between them do (`quoting`); what is kept is then what stands in the
conversation. A quote that stands in another place than the cited one is moved there if exactly one place has it: of the
cited turn, else of the conversation. Nothing else is put right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Literal, TypeAlias, assert_never

import msgspec

from collector.model import HandoffStep, MessageStep, Step, ToolCallStep, ToolResultStep, Turn
from evaluators.quoting import MAX_TEXT_CHARS, PIECES, Signs, find_pieces, pieces_of
from evaluators.transcript.escape import escape
from evaluators.transcript.turn_places import call_text, handoff_text, result_text
from evaluators.verdict import Evidence, Unit
from evaluators.wording import Forms, is_inside_number, is_short, needles_of, stands_in, text_forms, value_forms

Speaker: TypeAlias = Literal["user", "agent"]
"""Whose words a claim must rest on: the user's input, or what the agent itself said and called."""

MAX_QUOTE_CHARS = 500
MAX_CITATIONS = 12
"""That are looked at for one claim: it stands on its first ones, and each may take a while in a long conversation."""
_SHORT_PIECE_CHARS = 40
_PLACE = re.compile(
    r"[#\[(]?(?:[0-9a-f]{10} )?t(\d{1,9})(?:\.(\d{1,9}|user|answer))?(?![.\w])(?:[ ,:\])-].*)?", re.DOTALL
)
"""As it stands in the record; also with the words that follow it there, or in brackets."""
_LABEL = re.compile(r"\A(?:t\d{1,9}\.\w+|agent|assistant|user)\s*[:\uff1a|]\s*", re.IGNORECASE)
_NOT_SAID_BY: Mapping[Speaker, str] = {
    "user": "does not stand in the user's own words at the place that it cites: copy it from there exactly.",
    "agent": "does not stand in the agent's own words or calls at the place that it cites: copy it from there exactly.",
}
_MAX_SEARCHED_CHARS = 500_000
"""Of a conversation in which a quote is looked for elsewhere than it says."""
_MAX_LOOSELY_SEARCHED_CHARS = 500_000
"""What is read sign by sign for one quote; more would cost seconds."""
_MAX_REMEMBERED = 1000


class Citation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """As a judge gives it: a place of the record, and words from it."""

    at: str
    quote: str


class EvidenceError(Exception):
    """`problem` names the citation that does not check out, for the judge."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class _Found:
    turn: int
    place: str
    words: str
    """As they stand there."""


def verify(citation: Citation, unit: Unit, *, by: Speaker | None = None) -> Evidence:
    """The evidence at its right place, among the words of `by` only; raises `EvidenceError`."""
    turn, hit = _located(citation, unit, by)
    step = int(hit.place) if hit.place.isdigit() else None
    span_id = turn.steps[step].span_id if step is not None else None
    quote = _cut(escape(hit.words.strip()), MAX_QUOTE_CHARS)
    return Evidence(turn=turn.index, step=step, quote=quote, span_id=span_id or turn.span_id)


def placed(citation: Citation, unit: Unit, *, max_chars: int, by: Speaker | None = None) -> Citation:
    """The citation at its right place, with so many characters of what stands there; raises `EvidenceError`."""
    turn, hit = _located(citation, unit, by)
    return Citation(f"t{turn.index}.{hit.place}", _cut(escape(hit.words.strip()), max_chars))


def _cut(words: str, max_chars: int) -> str:
    """Such that what is left is found again: of words in several pieces, no short rest of one; of a number, nothing."""
    end = min(max_chars, len(words))
    while end > 0 and is_inside_number(words, end):
        end -= 1
    kept = words[:end].strip()
    whole, _, rest = kept.rpartition(PIECES)
    return whole if whole and len(words) > max_chars and len(rest) < _SHORT_PIECE_CHARS else kept


def first_citations(citations: Iterable[Citation]) -> list[Citation]:
    """Each once."""
    return list(islice(dict.fromkeys(citations), MAX_CITATIONS))


def all_placed(citations: Iterable[Citation], unit: Unit, *, max_chars: int = MAX_QUOTE_CHARS) -> Iterator[Citation]:
    """Those of the first ones that check out."""
    for citation in first_citations(citations):
        try:
            yield placed(citation, unit, max_chars=max_chars)
        except EvidenceError:
            continue


def _located(citation: Citation, unit: Unit, by: Speaker | None) -> tuple[Turn, _Found]:
    at = citation.at.strip()
    found = _PLACE.fullmatch(at)
    book = _book(_Turns(unit.conversation.turns))
    turn = book.turns.get(int(found[1])) if found else None
    if found is None or turn is None:
        raise EvidenceError(f"The place {_shown(at)} is no place of a turn; cite one such as t0.1 or t0.answer.")
    place = found[2]
    hits = book.hits(citation.quote, turn, by)
    hit = next((hit for hit in hits if hit.place == place or place is None), None)
    if hit is None:
        if not hits and book.chars <= _MAX_SEARCHED_CHARS:
            hits = book.hits(citation.quote, None, by)
        if len(hits) != 1:
            words = f"does not stand at {at}: copy it from there exactly." if by is None else _NOT_SAID_BY[by]
            more = " It is short: copy the words around it too." if is_short(citation.quote.strip()) else ""
            raise EvidenceError(f"The quote {_shown(citation.quote)} {words}{more}")
        hit = hits[0]
    return book.turns[hit.turn], hit


class _Book:
    """The turns of a conversation in the forms that quotes are looked for in, each made once: one answer may hold
    hundreds of quotes.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = {turn.index: turn for turn in turns}
        self._pages: dict[int, list[_Page]] = {}
        self._found: dict[tuple[str, int | None, Speaker | None], list[_Found]] = {}

    @cached_property
    def chars(self) -> int:
        return sum(page.chars for turn in self.turns.values() for page in self._pages_of(turn))

    def hits(self, quote: str, turn: Turn | None, by: Speaker | None) -> list[_Found]:
        """Where it stands in the turn, or in any, word for word; only where it does so nowhere, where its words do."""
        key = (quote, None if turn is None else turn.index, by)
        if key not in self._found:
            if len(self._found) >= _MAX_REMEMBERED:
                self._found.clear()
            turns = self.turns.values() if turn is None else (turn,)
            self._found[key] = _hits(quote, [page for one in turns for page in self._pages_of(one)], by)
        return self._found[key]

    def _pages_of(self, turn: Turn) -> list[_Page]:
        if turn.index not in self._pages:
            self._pages[turn.index] = list(_pages(turn))
        return self._pages[turn.index]


class _Page:
    def __init__(self, turn: int, place: str, speaker: Speaker | None, forms: Forms) -> None:
        """`speaker` None: a tool."""
        self.turn = turn
        self.place = place
        self.speaker = speaker
        self.forms = forms

        self.chars = sum(map(len, forms.raw))

    @cached_property
    def signs(self) -> list[Signs]:
        return [Signs(text) for text in self.forms.raw if len(text) <= MAX_TEXT_CHARS]

    def find(self, pieces: Sequence[str]) -> str | None:
        """The words with other punctuation, as they stand there."""
        return next(filter(None, (find_pieces(pieces, signs) for signs in self.signs)), None)


class _Turns:
    """The same turns, and not equal ones: they hold what has no hash."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns

    def __hash__(self) -> int:
        return id(self.turns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Turns) and other.turns is self.turns


@lru_cache(maxsize=2)
def _book(turns: _Turns) -> _Book:
    return _Book(turns.turns)


def _hits(quote: str, pages: Sequence[_Page], by: Speaker | None) -> list[_Found]:
    pages = [page for page in pages if by is None or page.speaker == by]
    needles = needles_of(quote)
    exact = [_Found(page.turn, page.place, quote) for page in pages if stands_in(needles, page.forms)]
    if exact:
        return exact
    pieces = pieces_of(_LABEL.sub("", quote.strip()))
    if not pieces or sum(page.chars for page in pages) > _MAX_LOOSELY_SEARCHED_CHARS:
        return []
    loosely = ((page, page.find(pieces)) for page in pages)
    return [_Found(page.turn, page.place, found) for page, found in loosely if found is not None]


def _pages(turn: Turn) -> Iterator[_Page]:
    if turn.user_input is not None:
        yield _Page(turn.index, "user", "user", text_forms(turn.user_input))
    for number, step in enumerate(turn.steps):
        speaker: Speaker | None = None if isinstance(step, ToolResultStep) else "agent"
        yield _Page(turn.index, str(number), speaker, _step_forms(step))
    if turn.output is not None:
        yield _Page(turn.index, "answer", "agent", text_forms(turn.output))


def _step_forms(step: Step) -> Forms:
    match step:
        case MessageStep():
            return text_forms(step.text)
        case ToolCallStep():
            return value_forms(call_text(step), step.arguments, name=step.name)
        case ToolResultStep():
            return value_forms(result_text(step, named=True), step.result, name=step.name)
        case HandoffStep():
            return text_forms(handoff_text(step))
        case _:
            assert_never(step)


def _shown(text: str) -> str:
    return json.dumps(escape(text)[:160], ensure_ascii=False)
