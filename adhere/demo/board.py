"""What the demo shows: one line a conversation, one column an evaluator, filled in as verdicts come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from adhere.cli.verdict_text import short
from adhere.demo.recordings import Recording
from collector.model import Conversation

Result = Mapping[str, object]
"""A verdict as the JSONL exporter writes it."""

_MARKS = {
    "pass": Text("pass", style="green"),
    "fail": Text("FAIL", style="bold red"),
    "not_assessable": Text("-", style="dim"),
    "abstain": Text("abstains", style="yellow"),
    "error": Text("error", style="yellow"),
}
_WORST_FIRST = ("fail", "error", "abstain", "not_assessable", "pass")


class Board:
    def __init__(self, recordings: Sequence[Recording], evaluators: Sequence[str]) -> None:
        self._rows = [(recording, conversation) for recording in recordings for conversation in recording.conversations]
        self._evaluators = evaluators
        self._results: dict[str, Result] = {}

    def add(self, results: Iterable[Result]) -> None:
        for result in results:
            self._results[str(result["id"])] = result

    @property
    def results(self) -> Sequence[Result]:
        return list(self._results.values())

    @property
    def flags(self) -> Sequence[Result]:
        return [result for result in self._results.values() if result["outcome"] == "fail"]

    def table(self) -> RenderableType:
        table = Table(expand=False)
        table.add_column("instrumentation", no_wrap=True)
        table.add_column("the user says", max_width=34, no_wrap=True)
        for evaluator in self._evaluators:
            table.add_column(evaluator.replace("_", " ").removeprefix("conversation "), justify="center")
        for recording, conversation in self._rows:
            table.add_row(
                recording.instrumentation,
                Text(short(conversation.turns[0].user_input or "", max_chars=120)),
                *(self._cell(conversation, evaluator) for evaluator in self._evaluators),
            )
        return table

    def findings(self) -> RenderableType:
        lines: list[Text] = []
        by_id = {conversation.conversation_id: recording for recording, conversation in self._rows}
        for result in self.flags:
            recording = by_id.get(str(result["conversation_id"]))
            where = recording.instrumentation if recording else str(result["service"])
            turn = f"turn {_int(result['turn_index'])}"
            lines.append(Text(f"✘ {where}, {turn}, {result['evaluator']}", style="bold red"))
            lines.append(Text(f"  {short(str(result['reason']))}"))
            lines += [
                Text(f"  evidence: “{short(str(evidence['quote']))}” (span {evidence['span_id']})", style="italic")
                for evidence in _list(result["evidence"])
            ]
        return Group(*lines)

    def _cell(self, conversation: Conversation, evaluator: str) -> Text:
        own = [
            str(result["outcome"])
            for result in self._results.values()
            if (result["conversation_id"], result["service"], result["evaluator"])
            == (conversation.conversation_id, conversation.service, evaluator)
        ]
        worst = next((outcome for outcome in _WORST_FIRST if outcome in own), None)
        return _MARKS[worst] if worst else Text("…", style="dim")


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _list(value: object) -> list[Mapping[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
