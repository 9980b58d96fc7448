"""Verdicts wait here, on disk, until every destination has them: the outbox, and the deliveries that empty it."""

from exporters.outbox.outbox import Outbox
from exporters.outbox.policy import (
    Backlog,
    ClaimedVerdict,
    DeadLetter,
    DeadLetterReason,
    DeliveryPolicy,
    OutboxLimits,
)
from exporters.outbox.runner import OutboxRunner

__all__ = [
    "Backlog",
    "ClaimedVerdict",
    "DeadLetter",
    "DeadLetterReason",
    "DeliveryPolicy",
    "Outbox",
    "OutboxLimits",
    "OutboxRunner",
]
