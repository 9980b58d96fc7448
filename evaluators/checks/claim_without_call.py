"""A claim of an action that no call took.

Flagged only where all of this holds: the agent says in the first person that it has done something; a tool for that
is defined; neither it nor any other tool that acts was called in the turn, and it never was in the conversation; no
tool that could do anything at all was; the same was not said in an earlier turn; and the telemetry has no gap that
could hide a call.
"""

from __future__ import annotations

from collector.model import GapKind, HandoffStep, Turn
from evaluators.checks.check import NOT_SEEN, gaps_up_to, name_words, shares_word
from evaluators.checks.claims import Claim, ClaimFinder
from evaluators.finding import Breach, Finding, concluded
from evaluators.timeline import Timeline
from evaluators.verdict import Evidence

_READING = frozenset(
    [
        "get",
        "list",
        "search",
        "find",
        "lookup",
        "look",
        "read",
        "query",
        "fetch",
        "retrieve",
        "check",
        "describe",
        "show",
        "view",
        "count",
        "validate",
        "calculate",
        "compute",
        "estimate",
        "compare",
        "track",
        "browse",
        "recall",
        "load",
        "think",
        "plan",
    ]
)
"""Tools with such a word in their name and none of an action tell something and change nothing."""
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
        breaches: list[Breach] = []
        unknown: list[str] = []
        seen = 0
        for turn in timeline.judged_turns:
            for claim in self._finder.claims(turn.output or ""):
                seen += 1
                if not self._is_unbacked(timeline, turn, claim):
                    continue
                if not tools:
                    unknown.append("Which tools the agent has is not in the telemetry.")
                elif not shares_word(tools, claim.action.tool_words):
                    continue
                elif self._may_be_hidden(timeline, turn):
                    unknown.append(f"Calls before the claim in turn {turn.index} may be missing from the telemetry.")
                else:
                    breaches.append(self._breach(turn, claim, tools))
        return concluded(breaches=breaches, seen=seen, unknown=unknown)

    def _is_unbacked(self, timeline: Timeline, turn: Turn, claim: Claim) -> bool:
        for call in timeline.calls:
            if call.turn.index > turn.index:
                break
            words = name_words(call.name)
            if words & claim.action.tool_words or words & _ANYTHING:
                return False
            if call.turn is turn and not words & _READING:
                return False
        return not any(
            earlier.action is claim.action
            for other in timeline.turns
            if other.index < turn.index
            for earlier in self._finder.claims(other.output or "")
        )

    def _may_be_hidden(self, timeline: Timeline, turn: Turn) -> bool:
        hiding = NOT_SEEN | {GapKind.ORPHAN_RESULT, GapKind.SPANS_MISSING}
        handed_over = any(
            isinstance(step, HandoffStep)
            for other in timeline.turns
            if other.index <= turn.index
            for step in other.steps
        )
        return handed_over or bool(hiding & gaps_up_to(timeline, turn))

    def _breach(self, turn: Turn, claim: Claim, tools: list[str]) -> Breach:
        fitting = [tool for tool in tools if name_words(tool) & claim.action.tool_words]
        reason = f"Turn {turn.index} says that it was done, and {' or '.join(fitting)} was never called."
        return Breach(reason, (Evidence(turn.index, None, claim.sentence, turn.span_id),))
