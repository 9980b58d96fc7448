"""What messages add to the items of a turn: those that a model call gave, and those that one was given.

An output is new, but for calls whose ids are known. An input replays the turn so far, and of that only what no item is
known for adds one (see `replay_match`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from collector.assembly.items import CallItem, Items, TextItem
from collector.assembly.joint_results import with_joint_results
from collector.assembly.replay_match import ReplayMatch
from collector.messages.streamed import in_whole
from collector.messages.values import join_texts
from collector.model import GapKind
from collector.operation import Message, Role, TextPart, ToolCallPart, ToolResultPart


@dataclass(frozen=True, slots=True)
class Source:
    """The span that the messages are from, when it had them, and whose they are."""

    time_ns: int
    span_id: str
    agent: str | None


def absorb_output(items: Items, messages: Iterable[Message], source: Source) -> None:
    """What a model call gave: new, unless a call with the same id is known. A tool that the provider ran has its
    result in it.
    """
    for message in messages:
        if message.role is Role.ASSISTANT:
            _add_said(items, message, source)
        for part in message.parts:
            call = items.call_of(part.call_id) if isinstance(part, ToolResultPart) else None
            is_new = call is not None and not call.has_result
            if isinstance(part, ToolResultPart) and call is not None and is_new and part.result is not None:
                _give_result(items, call, part, source)


def absorb_input(
    items: Items,
    messages: Iterable[Message],
    source: Source,
    *,
    is_delta: bool = False,
    goes_on: bool = False,
    fill_only: bool = False,
) -> None:
    """A replay of the turn so far; or only its latest messages (`is_delta`); or those that follow on what an
    earlier replay held (`goes_on`). `fill_only` adds no calls or texts.
    """
    replay = ReplayMatch(items, is_delta=is_delta, goes_on=goes_on)
    shared: set[int] = set()
    for message in with_joint_results(in_whole(messages), shared):
        items.gaps.update(message.gaps)
        replay.look_at(message)
        if message.role is Role.ASSISTANT:
            _absorb_said(items, message, replay, source, fill_only=fill_only)
        for part in message.parts:
            if isinstance(part, ToolResultPart):
                call = _absorb_result(items, part, replay, source, fill_only=fill_only)
                if call is not None and id(part) in shared and call.result == part.result:
                    call.is_joint = True


def _add_said(items: Items, message: Message, source: Source) -> None:
    items.gaps.update(message.gaps)
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    whole = _text(message)
    text = whole.strip()
    if text and not (calls and _is_known_id(items, calls)):
        is_piece = whole[:1].isspace()
        items.append(TextItem(text, source.time_ns, source.span_id, source.agent, asks=bool(calls), is_piece=is_piece))
    group = items.next_group() if calls else None
    for part in calls:
        if part.name and items.call_of(part.call_id) is None:
            items.append(_call(part, source, group))


def _is_known_id(items: Items, calls: Sequence[ToolCallPart]) -> bool:
    return any(items.call_of(part.call_id) is not None for part in calls)


def _absorb_said(items: Items, message: Message, replay: ReplayMatch, source: Source, *, fill_only: bool) -> None:
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    text = _text(message).strip()
    known = replay.text(text) if text else None
    if known is not None:
        items.repeat(known)
    found = [replay.call(part) for part in calls]
    if text and known is None and not fill_only:
        new = TextItem(text, source.time_ns, source.span_id, source.agent, is_replayed=True, asks=bool(calls))
        items.append(new, before=next(filter(None, found), None))
        replay.took(new)
    group = next((call.group for call in found if call is not None), None)
    for position, (part, call) in enumerate(zip(calls, found, strict=True)):
        if call is not None:
            items.repeat(call, part)
            continue
        if fill_only:
            continue
        group = items.next_group() if group is None else group
        new_call = _call(part, source, group)
        new_call.is_replayed = True
        items.append(new_call, before=next(filter(None, found[position:]), None))
        found[position] = new_call
        replay.took(new_call)
    replay.asked_in_order([call for call in found if call is not None])


def _absorb_result(
    items: Items, part: ToolResultPart, replay: ReplayMatch, source: Source, *, fill_only: bool
) -> CallItem | None:
    """The call that it was given to, if that had none."""
    call = replay.answered(part)
    if call is not None:
        is_new = not call.has_result and part.result is not None
        if is_new:
            _give_result(items, call, part, source)
        call.is_error = call.is_error or part.is_error
        return call if is_new else None
    if fill_only or items.has_orphan(part):
        return None
    if part.result is None and not part.call_id and not part.name:
        items.gaps.add(GapKind.ORPHAN_RESULT)
        return None
    orphan = CallItem(
        name=part.name or "",
        arguments=None,
        time_ns=source.time_ns,
        span_id=source.span_id,
        call_id=part.call_id,
        has_arguments=False,
        agent=source.agent,
        is_orphan=True,
    )
    _give_result(items, orphan, part, source)
    items.items.append(orphan)
    items.gaps.add(GapKind.ORPHAN_RESULT)
    return None


def _give_result(items: Items, call: CallItem, part: ToolResultPart, source: Source) -> None:
    items.give_result(call, part.result, is_error=part.is_error, span_id=source.span_id, agent=source.agent)


def _call(part: ToolCallPart, source: Source, group: int | None) -> CallItem:
    return CallItem(
        name=part.name,
        arguments=part.arguments,
        time_ns=source.time_ns,
        span_id=source.span_id,
        call_id=part.call_id,
        has_arguments=part.arguments is not None,
        agent=source.agent,
        group=group,
    )


def _text(message: Message) -> str:
    return join_texts([part.text for part in message.parts if isinstance(part, TextPart) and part.text])
