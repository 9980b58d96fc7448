"""What a turn gave the user in the end: the answer, and which item of the turn it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from collector.assembly.draft import Draft
from collector.assembly.items import CallItem, TextItem
from collector.assembly.node import AGENT_LIKE
from collector.assembly.said import contains, same_text
from collector.messages.reprs import is_printed_object
from collector.messages.values import canonical, decode, decode_container, dump
from collector.model import JsonValue
from collector.operation import OperationKind


def take_output_call(draft: Draft) -> str | None:
    """The answer that is the only argument of the turn's last call, or all of them: how a framework has its model end a
    turn.

    The agent's own answer, where one is told, is the same, whatever the tool gave back; else what it gave back is.
    """
    items = draft.items.items
    last = items[-1] if items else None
    if not draft.segments or not isinstance(last, CallItem) or not isinstance(last.arguments, Mapping):
        return None
    if draft.answer is not None and last.arguments and canonical(decode(draft.answer)) == canonical(last.arguments):
        items.remove(last)
        return draft.answer
    values = list(last.arguments.values())
    if len(values) != 1 or not values[0]:
        return None
    given = draft.answer if draft.answer is not None else last.result
    if canonical(given) != canonical(values[0]):
        return None
    agent = draft.segments[-1].entry
    ended = agent.kind in AGENT_LIKE or (agent.kind is OperationKind.MODEL_CALL and last.is_replayed)
    told = canonical(draft.answer) == canonical(values[0]) if draft.answer is not None else ended
    if not told or agent.operation.is_error or last.is_error:
        return None
    items.remove(last)
    return values[0] if isinstance(values[0], str) else dump(values[0])


def output_of(draft: Draft) -> tuple[str | None, TextItem | None]:
    """The answer, and the item that it is: what the agent span says, else the last text that asks for nothing more."""
    texts = draft.items.texts
    candidates = [item for item in texts if not item.asks]
    if draft.answer is not None:
        told = decode_container(draft.answer)
        is_told = (t for t in reversed(texts) if same_text(t.text, draft.answer) or _is_value(t.text, told))
        item = next(is_told, None)
        if item is not None:
            return item.text, item
        item = next((t for t in reversed(candidates) if contains(draft.answer, t.text) and len(t.text) > 1), None)
        is_state = told is not None or is_printed_object(draft.answer)
        if item is not None and (is_state or _is_all_that_was_said(draft.answer, texts, item)):
            return item.text, item
        return draft.answer, item
    calls = [index for index, item in enumerate(draft.items.items) if isinstance(item, CallItem)]
    last_call = calls[-1] if calls else -1
    after = [t for t in draft.items.items[last_call + 1 :] if isinstance(t, TextItem) and not t.asks]
    after = [text for text in after if same_text(text.text, draft.kept)] or after
    return (after[-1].text, after[-1]) if after else (None, None)


def _is_value(text: str, told: JsonValue) -> bool:
    """A structured answer may be recorded as another text than the model wrote."""
    return told is not None and text[:1] in ("{", "[") and canonical(decode_container(text)) == canonical(told)


def _is_all_that_was_said(answer: str, texts: Sequence[TextItem], last: TextItem) -> bool:
    """A streamed answer may be recorded with what was said before each tool call; those are steps."""
    said = [text.text for text in texts[: texts.index(last) + 1]]
    return len(said) > 1 and "".join("".join(said).split()) == "".join(answer.split())
