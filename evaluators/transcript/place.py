"""One place of a record: what evidence can cite, and what is shown of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    at: str
    """What evidence cites: `system`, `tools`, `t0.user`, `t0.3`, `t0.answer`, `t0.note`."""
    words: str = ""
    """Our own words on the structural line; never text of the conversation."""
    text: str | None = None
    agent: str | None = None
    """Who spoke or acted, where it is not the turn's own agent."""
    turn: int | None = None
    step: int | None = None
    pinned: bool = False
    """Shortened last."""
    max_chars: int | None = None
    """The most that is shown of it, however much room there is."""
    is_repeated: bool = False
    """An earlier pass has shown it already; it says nothing about how much of the conversation is shown."""

    @property
    def is_agents(self) -> bool:
        """The agent's own words or call."""
        return self.at.endswith(".answer") or self.words.startswith(("message", "call"))
