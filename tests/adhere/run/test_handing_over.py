import pytest

from adhere.run.handing_over import to_unit
from collector.live.ready import ReadyConversation, ReadyReason, ReadyTurn
from evaluators.verdict import UnitKind
from tests.support.conversations import refund_conversation

CONVERSATION = refund_conversation(verified=True)


@pytest.mark.parametrize("reason", list(ReadyReason))
def test_a_conversation_ended_where_the_application_said_so(reason):
    ready = ReadyConversation("key", CONVERSATION, revision=3, content_digest=b"", reason=reason)

    unit = to_unit(ready)

    assert (unit.kind, unit.turn_index, unit.revision) == (UnitKind.CONVERSATION, 1, 3)
    assert unit.ended is (reason is ReadyReason.END_MARKER)


def test_a_turn_never_ends_its_conversation():
    ready = ReadyTurn("key", CONVERSATION, turn_index=1, revision=0, content_digest=b"", reason=ReadyReason.END_MARKER)

    assert (to_unit(ready).kind, to_unit(ready).ended) == (UnitKind.TURN, False)
