"""Which traces belong to one conversation. Pure; never by time alone; the same groups in any order of arrival.

Within one service, the surest first:

1. the same conversation id;
2. a response id: a call that names the previous response, or whose conversation id is in truth a response id; and one
   call seen by two instrumentations in traces of their own (same response id, at the same time);
3. a tool-call id: a call's input holds a call or result that another call's output asked for;
4. history: a call's input begins with another call's whole input and output, or with the input of one that failed;
5. a history that is not the list that was sent (cut at its beginning, without tools or templates): the latest answer in
   it, and what it answers, are one call's and no other's.

A conversation id is never overruled: traces with different ids stay apart, a trace without one may join by 2 to 5.
A list that is known is continued once. A second continuation is another user's whose conversation began with the same
words (then either assignment gives the same text), or a retry: the same input again after a failure.

What live state must index so as to find the traces that may belong together is `collector.assembly.link_keys`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import is_

from collector.assembly.evidence import (
    LINKING,
    answer_at,
    answered_ids,
    answering_key,
    answers_the_same,
    asked_ids,
    fits,
    goes_unanswered,
    is_beginning,
    is_id,
    is_open,
    is_unanswered,
    last_reply_in,
    may_be_of,
    pending_key,
    replies_in,
    reply_key,
    said_beside_calls,
    whole_of,
    without_calls,
)
from collector.assembly.units import Unit, traces_of, units_of
from collector.messages.fold import says_anything
from collector.operation import Chain, Operation, OperationKind


def link(operations: Iterable[Operation]) -> list[tuple[Operation, ...]]:
    """The operations of each conversation, conversations in order of time. Operations are merged, one a span."""
    groups = Links().groups_of(units_of(traces_of(operations)))
    return [tuple(op for unit in units for op in unit.operations) for units in groups]


class Links:
    """What joins the units of a component, kept while it grows at its end."""

    def __init__(self) -> None:
        self._groups = _Groups(())
        self._known = _Known()

    def groups_of(self, units: Sequence[Unit]) -> list[Sequence[Unit]]:
        """The units of each conversation, from all there are, which are in order of time."""
        if len({(unit.service, unit.conversation_id) for unit in units}) == 1 and units[0].conversation_id is not None:
            # Nothing is left to find out: one name joins them all, and nothing parts what has one name.
            self._groups, self._known = _Groups(()), _Known()
            return [units]
        fresh = units[len(self._groups.units) :]
        if self._goes_on(units, fresh):
            self._groups.add(fresh)
        else:
            fresh = units
            self._groups, self._known = _Groups(units), _Known()
            _by_conversation_id(self._groups)
            _by_response_id(self._groups)
        _by_messages(self._groups, fresh, self._known)
        return self._groups.members()

    def _goes_on(self, units: Sequence[Unit], fresh: Sequence[Unit]) -> bool:
        """Whether all is as it was but for units behind it that nothing but messages can join to anything."""
        known, before = self._known, self._groups.units
        if not before or len(units) < len(before) or not all(map(is_, units, before)):
            return False
        ids: list[str] = []
        for operation in (op for unit in fresh for op in unit.operations):
            if operation.response_id:
                ids.append(operation.response_id)
            is_behind = known.latest is None or (operation.kind not in _PLACED or _place(operation) > known.latest)
            if operation.previous_response_id or not is_behind:
                return False
        is_named = any(unit.conversation_id is not None for unit in fresh)
        return not is_named and len(ids) == len(set(ids)) and known.response_ids.isdisjoint(ids)


class _Groups:
    """Union-find over units that never joins two conversation ids."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self.units: list[Unit] = []
        self._root: list[int] = []
        self._name: list[str | None] = []
        self.add(units)

    def add(self, units: Sequence[Unit]) -> None:
        self._root += range(len(self.units), len(self.units) + len(units))
        self._name += [unit.conversation_id for unit in units]
        self.units += units

    def find(self, index: int) -> int:
        while self._root[index] != index:
            self._root[index] = self._root[self._root[index]]
            index = self._root[index]
        return index

    def may_join(self, one: int, two: int) -> bool:
        first, second = self._name[self.find(one)], self._name[self.find(two)]
        return first is None or second is None or first == second

    def join(self, one: int, two: int) -> bool:
        """Whether they are together now."""
        if not self.may_join(one, two):
            return False
        first, second = sorted((self.find(one), self.find(two)))
        if first != second:
            self._root[second] = first
            self._name[first] = self._name[first] or self._name[second]
        return True

    def members(self) -> list[Sequence[Unit]]:
        found: dict[int, list[Unit]] = defaultdict(list)
        for index, unit in enumerate(self.units):
            found[self.find(index)].append(unit)
        return list(found.values())


def _by_conversation_id(groups: _Groups) -> None:
    known: dict[tuple[str | None, str], int] = {}
    for index, unit in enumerate(groups.units):
        if unit.conversation_id is not None:
            groups.join(known.setdefault((unit.service, unit.conversation_id), index), index)


def _by_response_id(groups: _Groups) -> None:
    known: dict[tuple[str | None, str], list[tuple[int, Operation]]] = defaultdict(list)
    for index, operation in _operations(groups.units):
        if operation.response_id:
            known[operation.service, operation.response_id].append((index, operation))
    for twins in known.values():
        for position, (index, operation) in enumerate(twins):
            for other, twin in twins[position + 1 :]:
                if operation.start_ns <= twin.end_ns and twin.start_ns <= operation.end_ns:
                    groups.join(index, other)
    for index, operation in _operations(groups.units):
        if operation.previous_response_id:
            answered = known.get((operation.service, operation.previous_response_id), [])
            earlier = [(other.start_ns, at) for at, other in answered if other.start_ns <= operation.start_ns]
            if earlier:
                groups.join(max(earlier)[1], index)


@dataclass(slots=True)
class _Provider:
    """A call that another may go on from."""

    index: int
    operation: Operation
    whole: Chain | None
    asked: frozenset[str]
    twin: tuple[int, str] | None = None
    is_answered: bool = False


@dataclass(slots=True)
class _Known:
    """The calls seen so far, in order of time, by what a later one may go on from."""

    lists: dict[tuple[str | None, bytes], list[_Provider]] = field(default_factory=lambda: defaultdict(list))
    bare: dict[tuple[str | None, bytes], list[_Provider]] = field(default_factory=lambda: defaultdict(list))
    """By what is left of a list whose last calls are left out."""
    opens: dict[tuple[str | None, bytes], list[_Provider]] = field(default_factory=lambda: defaultdict(list))
    calls: dict[tuple[str | None, str], list[_Provider]] = field(default_factory=lambda: defaultdict(list))
    pending: dict[bytes, list[_Provider]] = field(default_factory=lambda: defaultdict(list))
    replies: dict[tuple[str | None, bytes], list[_Provider]] = field(default_factory=lambda: defaultdict(list))
    claims: dict[tuple[int, bytes], tuple[int, Operation]] = field(default_factory=dict)
    response_ids: set[str] = field(default_factory=set)
    """Of every operation, and those that some name as the previous one."""
    latest: tuple[int, int, str, str] | None = None
    """The place of the last one in the order of time."""


_PLACED = LINKING | {OperationKind.TOOL}


def _place(operation: Operation) -> tuple[int, int, str, str]:
    return (operation.start_ns, operation.end_ns, operation.trace_id, operation.span_id)


def _by_messages(groups: _Groups, fresh: Sequence[Unit], known: _Known) -> None:
    """Calls in order of time: each looks for the one it goes on from among those that began before it.

    `fresh` are the last of all units; the others were gone through before, and so were their calls.
    """
    first = len(groups.units) - len(fresh)
    every = [(first + i, op) for i, op in _operations(fresh) if op.kind in _PLACED]
    every.sort(key=lambda item: _place(item[1]))
    for _, operation in _operations(fresh):
        known.response_ids.update(one for one in (operation.response_id, operation.previous_response_id) if one)
    if every:
        known.latest = _place(every[-1][1])
    for index, operation in every:
        if operation.kind is OperationKind.TOOL:
            if is_id(operation.call_id):
                _join_latest(groups, index, known.calls.get((operation.service, operation.call_id or ""), []))
            continue
        if not _continue_from(groups, index, operation, known):
            _answer_pending(groups, index, operation, known)
        _provide(
            groups, _Provider(index, operation, whole_of(operation), frozenset(asked_ids(operation.output))), known
        )


def _provide(groups: _Groups, provider: _Provider, known: _Known) -> None:
    operation = provider.operation
    if provider.whole is not None:
        same = known.lists[operation.service, provider.whole.digest]
        _join_twin(groups, provider, same)
        same.append(provider)
        for bare in without_calls(provider.whole):
            known.bare[operation.service, bare.digest].append(provider)
    if is_open(operation) and operation.input is not None:
        known.opens[operation.service, operation.input.digest].append(provider)
    for call_id in provider.asked:
        known.calls[operation.service, call_id].append(provider)
    reply = reply_key(operation)
    if reply is not None:
        known.replies[operation.service, reply].append(provider)
    pending = pending_key(operation)
    if pending is not None:
        known.pending[pending].append(provider)


def _join_twin(groups: _Groups, provider: _Provider, same: Sequence[_Provider]) -> None:
    """One call seen by two instrumentations: the same messages, another scope, at the same time, one twin a scope."""
    operation = provider.operation
    taken = {other.twin for other in same}
    for other in reversed(same):
        twin = other.operation
        overlaps = operation.start_ns <= twin.end_ns and twin.start_ns <= operation.end_ns
        differ = bool(operation.response_id and twin.response_id and operation.response_id != twin.response_id)
        fits = overlaps and twin.scope != operation.scope and not differ and other.index != provider.index
        if fits and (other.index, operation.scope) not in taken and groups.join(other.index, provider.index):
            provider.twin = (other.index, operation.scope)
            return


def _continue_from(groups: _Groups, index: int, operation: Operation, known: _Known) -> bool:
    if operation.input is None:
        return False
    for node in replies_in(operation.input):
        ids = frozenset(asked_ids([node.message]))
        whole = known.lists.get((operation.service, node.digest), [])
        chosen = _choose(groups, index, operation, ids=ids, known=whole, digest=node.digest, claims=known.claims)
        if chosen is None:
            partly = _partly_known(groups, index, operation, known, node)
            chosen = _choose(groups, index, operation, ids=ids, known=partly, digest=node.digest, claims=known.claims)
        asked, told = answer_at(node) if chosen is None else (None, node.message)
        if asked is not None:
            begun = [
                provider
                for provider in known.opens.get((operation.service, asked.digest), [])
                if fits(provider.operation.output, told)
            ]
            chosen = _choose(groups, index, operation, ids=ids, known=begun, digest=node.digest, claims=known.claims)
        if chosen is not None:
            known.claims.setdefault((chosen.index, node.digest), (index, operation))
            groups.join(chosen.index, index)
            return True
        if any(_join_latest(groups, index, known.calls.get((operation.service, one), [])) for one in sorted(ids)):
            return True  # surer than that an earlier list is known
    answered = (known.calls.get((operation.service, call_id), []) for call_id in answered_ids(operation.input))
    if any(_join_latest(groups, index, providers) for providers in answered):
        return True
    if is_beginning(operation) and _go_on_after_failure(groups, index, operation, known, operation.input):
        return True  # the same words once more
    return _continue_failed(groups, index, operation, known) or _continue_altered(groups, index, operation, known)


def _partly_known(groups: _Groups, index: int, operation: Operation, known: _Known, node: Chain) -> list[_Provider]:
    """Calls whose answer is the one before this place but for tool calls, which one side or the other left out.

    Where the replay left them out, nothing says which of two users' calls it goes on from: it is neither's then.
    """
    said = said_beside_calls(node)
    if said is not None:
        return known.lists.get((operation.service, said.digest), [])
    found = [
        provider
        for provider in known.bare.get((operation.service, node.digest), [])
        if groups.may_join(provider.index, index)
        and _is_free(groups, index, operation, known.claims.get((provider.index, node.digest)))
    ]
    return found if len({provider.whole.digest for provider in found if provider.whole is not None}) == 1 else []


def _continue_failed(groups: _Groups, index: int, operation: Operation, known: _Known) -> bool:
    """The user spoke again after a call that failed, whose words are still in the list."""
    node = operation.input
    while node is not None:
        before = node.parent if goes_unanswered(node) else None
        if before is not None and _go_on_after_failure(groups, index, operation, known, before):
            return True
        node = node.parent
    return False


def _go_on_after_failure(groups: _Groups, index: int, operation: Operation, known: _Known, sent: Chain) -> bool:
    """After the latest call that was sent this list and failed, and that nothing went on from yet.

    That an answer is not known is enough only where the user spoke again: it may never have been recorded.
    """
    failed = [
        provider
        for provider in known.opens.get((operation.service, sent.digest), [])
        if (provider.operation.is_error or (sent is not operation.input and is_unanswered(provider.operation)))
        and provider.operation.end_ns <= operation.start_ns
    ]
    claims = known.claims
    chosen = _choose(groups, index, operation, ids=frozenset(), known=failed, digest=sent.digest, claims=claims)
    if chosen is None:
        return False
    claims.setdefault((chosen.index, sent.digest), (index, operation))
    return groups.join(chosen.index, index)


def _continue_altered(groups: _Groups, index: int, operation: Operation, known: _Known) -> bool:
    """Only where nobody else can be meant: one conversation holds the answer, and nothing went on from there yet."""
    reply = last_reply_in(operation.input)
    if reply is None:
        return False
    digest = reply.message.digest
    fitting = [
        provider
        for provider in known.replies.get((operation.service, digest), [])
        if groups.may_join(provider.index, index) and _answers_the_same(groups.units[provider.index], provider, reply)
    ]
    if len({groups.find(provider.index) for provider in fitting}) != 1:
        return False
    latest = fitting[-1]
    digests = [digest, *([latest.whole.digest] if latest.whole is not None else [])]
    if not all(_is_free(groups, index, operation, known.claims.get((latest.index, key))) for key in digests):
        return False
    known.claims.setdefault((latest.index, digest), (index, operation))
    return groups.join(latest.index, index)


def _answers_the_same(unit: Unit, provider: _Provider, reply: Chain) -> bool:
    """By the call itself, or by another of its request, whose answer it worked on."""
    own = provider.operation
    if answers_the_same(own, reply):
        return True
    before = (op for op in unit.operations if op.kind in LINKING and op.end_ns <= own.start_ns)
    return any(answers_the_same(op, reply) for op in before)


def _answer_pending(groups: _Groups, index: int, operation: Operation, known: _Known) -> None:
    """Results whose ids can match no call: to the one call of this program that waits for them, if it is the only
    one.
    """
    key = answering_key(operation)
    if key is None:
        return
    waiting = [p for p in known.pending[key] if p.operation.end_ns <= operation.start_ns and not p.is_answered]
    if len(waiting) == 1 and groups.join(waiting[0].index, index):
        waiting[0].is_answered = True


def _choose(
    groups: _Groups,
    index: int,
    operation: Operation,
    *,
    ids: frozenset[str],
    known: Sequence[_Provider],
    digest: bytes,
    claims: dict[tuple[int, bytes], tuple[int, Operation]],
) -> _Provider | None:
    fitting = [
        provider
        for provider in known
        if groups.may_join(provider.index, index)
        and may_be_of(provider.asked, ids)
        and _is_free(groups, index, operation, claims.get((provider.index, digest)))
    ]
    return max(
        fitting,
        key=lambda provider: (
            groups.find(provider.index) == groups.find(index),
            bool(provider.asked & ids),
            provider.operation.start_ns,
            provider.operation.trace_id,
            provider.operation.span_id,
        ),
        default=None,
    )


def _is_free(groups: _Groups, index: int, operation: Operation, claim: tuple[int, Operation] | None) -> bool:
    if claim is None or groups.find(claim[0]) == groups.find(index):
        return True
    before = claim[1]
    same = before.input is not None and operation.input is not None and before.input.digest == operation.input.digest
    return same and (before.is_error or not says_anything(before.output))


def _join_latest(groups: _Groups, index: int, known: Sequence[_Provider]) -> bool:
    fitting = [provider for provider in known if groups.may_join(provider.index, index)]
    if not fitting:
        return False
    return groups.join(fitting[-1].index, index)


def _operations(units: Sequence[Unit]) -> Iterator[tuple[int, Operation]]:
    for index, unit in enumerate(units):
        for operation in unit.operations:
            yield index, operation
