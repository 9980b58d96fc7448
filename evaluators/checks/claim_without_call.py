"""A claim of an action that no call took.

Flagged only where all of this holds: the agent says in the first person that it has done something; a tool for that
is defined; neither it nor any other tool that acts was called in the turn, and it never was in the conversation; no
tool that could do anything at all was; the same was not said in an earlier turn; and the telemetry has no gap that
could hide a call.
"""

from __future__ import annotations

from collector.model import GapKind, HandoffStep, Turn
from evaluators.checks.check import NOT_SEEN, READING, gaps_up_to, name_words, shares_word
from evaluators.checks.claims import Claim, ClaimFinder
from evaluators.finding import Breach, Finding, concluded
from evaluators.timeline import Timeline
from evaluators.verdict import Evidence

_ANYTHING = frozenset(
    [
        "run",
        "exec",
        "execute",
        "shell",
        "bash",
        "terminal",
        "code",
        "python",
        "script",
        "sql",
        "http",
        "request",
        "api",
        "browser",
        "computer",
        "agent",
        "delegate",
        "task",
        "transfer",
        "handoff",
        "assistant",
        "workflow",
        "invoke",
        "call",
    ]
)
"""Tools that may do anything, so that any claim may be backed by them."""


class ClaimWithoutCall:
    name = "claim_without_call"
    demand = "an action that the agent says it has taken was taken by a call"

    def __init__(self, finder: ClaimFinder) -> None:
        self._finder = finder

    def check(self, timeline: Timeline) -> Finding:
        tools = [tool.name for tool in timeline.unit.conversation.tool_definitions]
        claims = _Claims(self._finder)
        breaches: list[Breach] = []
        unknown: list[str] = []
        seen = 0
        for turn in timeline.judged_turns:
            for claim in claims.of(turn):
                seen += 1
                if not _is_unbacked(timeline, turn, claim, claims):
                    continue
                if not tools:
                    unknown.append("Which tools the agent has is not in the telemetry.")
                elif not shares_word(tools, claim.action.tool_words):
                    continue
                elif _may_be_hidden(timeline, turn):
                    unknown.append(f"Calls before the claim in turn {turn.index} may be missing from the telemetry.")
                else:
                    breaches.append(_breach(turn, claim, tools))
        return concluded(breaches=breaches, seen=seen, unknown=unknown)


class _Claims:
    """Claims by turn and words by tool, each read once."""

    def __init__(self, finder: ClaimFinder) -> None:
        self._finder = finder
        self._known: dict[int, list[Claim]] = {}
        self._words: dict[str, frozenset[str]] = {}

    def of(self, turn: Turn) -> list[Claim]:
        if turn.index not in self._known:
            self._known[turn.index] = list(self._finder.claims(turn.output or ""))
        return self._known[turn.index]

    def words_of(self, tool: str) -> frozenset[str]:
        return self._words.get(tool) or self._words.setdefault(tool, name_words(tool))


def _is_unbacked(timeline: Timeline, turn: Turn, claim: Claim, claims: _Claims) -> bool:
    for call in timeline.calls:
        if call.turn.index > turn.index:
            break
        words = claims.words_of(call.name)
        if words & claim.action.tool_words or words & _ANYTHING or (call.turn is turn and not words & READING):
            return False
    earlier = [other for other in timeline.turns if other.index < turn.index]
    return not any(said.action is claim.action for other in earlier for said in claims.of(other))


def _may_be_hidden(timeline: Timeline, turn: Turn) -> bool:
    hiding = NOT_SEEN | {GapKind.ORPHAN_RESULT, GapKind.SPANS_MISSING}
    earlier = [other for other in timeline.turns if other.index <= turn.index]
    handed_over = any(isinstance(step, HandoffStep) for other in earlier for step in other.steps)
    return handed_over or bool(hiding & gaps_up_to(timeline, turn))


def _breach(turn: Turn, claim: Claim, tools: list[str]) -> Breach:
    fitting = [tool for tool in tools if name_words(tool) & claim.action.tool_words]
    reason = f"Turn {turn.index} says that it was done, and {' or '.join(fitting)} was never called."
    return Breach(reason, (Evidence(turn.index, None, claim.sentence, turn.span_id),))
