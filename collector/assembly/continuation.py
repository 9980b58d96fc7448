"""Which earlier call a call goes on from, by its messages: whose list its own begins with, or whose answer it holds.

A list that is known is continued once: who went on from it first has a claim to it. A second one is another user's, or
a retry. `evidence` says what the messages of one call tell, `known_calls` what there is to go on from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    is_unanswered,
    last_reply_in,
    may_be_of,
    replies_in,
    said_beside_calls,
)
from collector.assembly.known_calls import KnownCall, KnownCalls
from collector.assembly.unit_groups import UnitGroups
from collector.assembly.units import Unit
from collector.messages.fold import says_anything
from collector.operation import Chain, Operation


@dataclass(slots=True)
class Continuation:
    """A call that looks for the one it goes on from."""

    groups: UnitGroups
    known: KnownCalls
    index: int
    """Of its unit."""
    operation: Operation

    def join(self) -> None:
        """Its unit with that of the call it goes on from, where there is one."""
        if not self._go_on():
            self._answer_pending()

    def _go_on(self) -> bool:
        operation, known = self.operation, self.known
        if operation.input is None:
            return False
        for node in replies_in(operation.input):
            ids = frozenset(asked_ids([node.message]))
            chosen = self._choose(known.lists.get((operation.service, node.digest), []), node.digest, ids)
            if chosen is None:
                chosen = self._choose(self._partly_known(node), node.digest, ids)
            asked, told = answer_at(node) if chosen is None else (None, node.message)
            if asked is not None:
                begun = [
                    call
                    for call in known.opens.get((operation.service, asked.digest), [])
                    if fits(call.operation.output, told)
                ]
                chosen = self._choose(begun, node.digest, ids)
            if chosen is not None:
                return self._claim(chosen, node.digest)
            if any(
                join_latest(self.groups, self.index, known.calls.get((operation.service, i), [])) for i in sorted(ids)
            ):
                return True  # surer than that an earlier list is known
        answered = (known.calls.get((operation.service, call_id), []) for call_id in answered_ids(operation.input))
        if any(join_latest(self.groups, self.index, calls) for calls in answered):
            return True
        if is_beginning(operation) and self._go_on_after_failure(operation.input):
            return True  # the same words once more
        return self._continue_failed() or self._continue_altered()

    def _partly_known(self, node: Chain) -> list[KnownCall]:
        """Calls whose answer is the one before this place but for tool calls, which one side or the other left out.

        Where the replay left them out, nothing says which of two users' calls it goes on from: it is neither's then.
        """
        said = said_beside_calls(node)
        if said is not None:
            return self.known.lists.get((self.operation.service, said.digest), [])
        found = [
            call
            for call in self.known.bare.get((self.operation.service, node.digest), [])
            if self.groups.may_join(call.index, self.index) and self._is_free(call, node.digest)
        ]
        return found if len({call.whole.digest for call in found if call.whole is not None}) == 1 else []

    def _continue_failed(self) -> bool:
        """The user spoke again after a call that failed, whose words are still in the list."""
        node = self.operation.input
        while node is not None:
            before = node.parent if goes_unanswered(node) else None
            if before is not None and self._go_on_after_failure(before):
                return True
            node = node.parent
        return False

    def _go_on_after_failure(self, sent: Chain) -> bool:
        """After the latest call that was sent this list and failed, and that nothing went on from yet.

        That an answer is not known is enough only where the user spoke again: it may never have been recorded.
        """
        is_again = sent is not self.operation.input
        failed = [
            call
            for call in self.known.opens.get((self.operation.service, sent.digest), [])
            if (call.operation.is_error or (is_again and is_unanswered(call.operation)))
            and call.operation.end_ns <= self.operation.start_ns
        ]
        chosen = self._choose(failed, sent.digest, frozenset())
        return chosen is not None and self._claim(chosen, sent.digest)

    def _continue_altered(self) -> bool:
        """Only where nobody else can be meant: one conversation holds the answer, and nothing went on from it yet."""
        reply = last_reply_in(self.operation.input)
        if reply is None:
            return False
        digest = reply.message.digest
        fitting = [
            call
            for call in self.known.replies.get((self.operation.service, digest), [])
            if self.groups.may_join(call.index, self.index)
            and _answers_the_same(self.groups.units[call.index], call, reply)
        ]
        if len({self.groups.find(call.index) for call in fitting}) != 1:
            return False
        latest = fitting[-1]
        digests = [digest, *([latest.whole.digest] if latest.whole is not None else [])]
        return all(self._is_free(latest, each) for each in digests) and self._claim(latest, digest)

    def _answer_pending(self) -> None:
        """Results whose ids can match no call: to the one call of this program that waits for them, if it is the only
        one.
        """
        key = answering_key(self.operation)
        if key is None:
            return
        pending = self.known.pending.get(key, [])
        waiting = [c for c in pending if c.operation.end_ns <= self.operation.start_ns and not c.is_answered]
        if len(waiting) == 1 and self.groups.join(waiting[0].index, self.index):
            waiting[0].is_answered = True

    def _choose(self, calls: Sequence[KnownCall], digest: bytes, ids: frozenset[str]) -> KnownCall | None:
        """The one of these to go on from where the list is this one and asks for these tool calls."""
        groups, index = self.groups, self.index
        fitting = [
            call
            for call in calls
            if groups.may_join(call.index, index) and may_be_of(call.asked, ids) and self._is_free(call, digest)
        ]
        return max(
            fitting,
            key=lambda call: (
                groups.find(call.index) == groups.find(index),
                bool(call.asked & ids),
                call.operation.start_ns,
                call.operation.trace_id,
                call.operation.span_id,
            ),
            default=None,
        )

    def _is_free(self, call: KnownCall, digest: bytes) -> bool:
        """Nobody else went on from there, unless it was in vain."""
        claim = self.known.claims.get((call.index, digest))
        if claim is None or self.groups.find(claim[0]) == self.groups.find(self.index):
            return True
        before, sent = claim[1], self.operation.input
        is_same = before.input is not None and sent is not None and before.input.digest == sent.digest
        return is_same and (before.is_error or not says_anything(before.output))

    def _claim(self, call: KnownCall, digest: bytes) -> bool:
        """Go on from there."""
        self.known.claims.setdefault((call.index, digest), (self.index, self.operation))
        return self.groups.join(call.index, self.index)


def join_latest(groups: UnitGroups, index: int, calls: Sequence[KnownCall]) -> bool:
    """The unit with that of the latest of these calls that it may be joined with."""
    fitting = [call for call in calls if groups.may_join(call.index, index)]
    return bool(fitting) and groups.join(fitting[-1].index, index)


def _answers_the_same(unit: Unit, call: KnownCall, reply: Chain) -> bool:
    """By the call itself, or by another of its request, whose answer it worked on."""
    own = call.operation
    if answers_the_same(own, reply):
        return True
    before = (op for op in unit.operations if op.kind in LINKING and op.end_ns <= own.start_ns)
    return any(answers_the_same(op, reply) for op in before)
