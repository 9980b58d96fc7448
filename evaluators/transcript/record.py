"""The record: a conversation written down for a judge, in lines that no content can forge.

    #7c1f09ab22 t1.user
    | A refund please.
    #7c1f09ab22 t1.0 call
    | issue_refund {"order_id": "B-2040"}
    #7c1f09ab22 cut 1200 characters

A line starts with `#` and the mark (structure, our own words only), with `@ ` (the name of the agent that spoke or
acted, where it is not the turn's own), or with `| ` (content). Content is escaped and split at every line break, so no
text of the conversation ever begins a line. The record of a conversation that grew begins, byte for byte, with the
record that it had: nothing in it depends on later turns, and its end is written by the question that follows. Only a
conversation over the token budget is written anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from collector.model import Conversation
from evaluators.transcript.escape import lines_of, one_line
from evaluators.transcript.fence import Fence
from evaluators.transcript.place import Place
from evaluators.transcript.places import places_of, recent_places_of
from evaluators.transcript.tokens import estimate_tokens
from evaluators.transcript.values import name_text
from evaluators.transcript.view import LeftOut, Shown, View, view_of


@dataclass(frozen=True, slots=True)
class Record:
    mark: str
    text: str
    """Ends with a line break."""
    coverage: float
    tokens: int
    """An estimate."""
    agent_turns: tuple[int, ...]
    """Turns of which at least one word or call of the agent is shown."""
    first_turn: int = 0
    """Turns before this one are not shown: what is left of them stands in notes."""
    shown_chars: int = 0
    total_chars: int = 0
    is_squeezed: bool = False


def record_of(conversation: Conversation, *, fence: Fence, max_tokens: int, first_turn: int = 0) -> Record:
    mark = fence.mark(conversation.key)
    view = view_of(escaped_places(conversation, first_turn=first_turn), max_tokens=max_tokens)
    text = write(view, mark=mark)
    return Record(
        mark=mark,
        text=text,
        coverage=view.coverage,
        tokens=estimate_tokens(text),
        agent_turns=tuple(turn for turn in _agent_turns(view) if turn >= first_turn),
        first_turn=first_turn,
        shown_chars=view.shown_chars,
        total_chars=view.total_chars,
        is_squeezed=view.is_squeezed,
    )


def escaped_places(conversation: Conversation, *, first_turn: int = 0) -> list[Place]:
    places = recent_places_of(conversation, first=first_turn) if first_turn else places_of(conversation)
    return [place if place.text is None else replace(place, text="\n".join(lines_of(place.text))) for place in places]


def write(view: View, *, mark: str) -> str:
    lines: list[str] = []
    for item in view.items:
        match item:
            case Shown():
                lines += _place(item, mark)
            case LeftOut():
                lines.append(f"#{mark} cut {item.count} places, {item.first_at} to {item.last_at}")
            case _:
                assert_never(item)
    return "".join(line + "\n" for line in lines)


def end_line(mark: str) -> str:
    """The line that ends a record; the question begins with it."""
    return f"#{mark} end"


def quoted(text: str) -> str:
    """Text as content lines, for what a question must show."""
    return "\n".join("| " + line for line in lines_of(text))


def _agent_turns(view: View) -> tuple[int, ...]:
    turns = {
        item.place.turn
        for item in view.items
        if isinstance(item, Shown) and item.place.is_agents and (item.head or item.tail)
    }
    return tuple(sorted(turn for turn in turns if turn is not None))


def _place(shown: Shown, mark: str) -> list[str]:
    place = shown.place
    lines = [f"#{mark} {place.at} {place.words}".rstrip()]
    if place.agent is not None:
        lines.append("@ " + one_line(name_text(place.agent)))
    if shown.head is not None and (shown.head or not shown.cut_chars):
        lines += ["| " + line for line in lines_of(shown.head)]
    if shown.cut_chars:
        lines.append(f"#{mark} cut {shown.cut_chars} characters")
    if shown.tail:
        lines += ["| " + line for line in lines_of(shown.tail)]
    return lines
