"""A verdict as bytes: JSON in a versioned envelope, so that a later release reads what an earlier one left.

Encoding never fails for what a conversation or a judge can put into a verdict: text that is no valid Unicode, numbers
that JSON does not have and nesting without end become the nearest valid value. A verdict over the bound is shortened
visibly: evaluator details first, then evidence, then the reason.
"""

from __future__ import annotations

import dataclasses

import msgspec

from collector.errors import PermanentError
from evaluators.verdict import Evidence, Verdict
from exporters.plain import placeholder, plain_json
from exporters.text import clean_text

VERSION = 1
_TRUNCATED = {"truncated": True}


class UndecodableVerdictError(PermanentError):
    """The stored bytes are no verdict that this release can read."""


class _Envelope(msgspec.Struct):
    v: int
    verdict: msgspec.Raw


def encode_verdict(verdict: Verdict, *, max_bytes: int = 1 << 20) -> bytes:
    body = _encode(verdict)
    if len(body) <= max_bytes:
        return body
    shortened = dataclasses.replace(verdict, details=_TRUNCATED)
    if len(body := _encode(shortened)) > max_bytes:
        shortened = dataclasses.replace(shortened, evidence=tuple(_shorten(item) for item in verdict.evidence[:20]))
    if len(body := _encode(shortened)) > max_bytes:
        shortened = dataclasses.replace(shortened, evidence=(), reason=clean_text(verdict.reason, max_chars=4000))
        body = _encode(shortened)
    return body


def decode_verdict(body: bytes) -> Verdict:
    """Raises UndecodableVerdictError. Fields that a later release added are ignored."""
    try:
        envelope = msgspec.json.decode(body, type=_Envelope)
        if envelope.v > VERSION:
            raise UndecodableVerdictError(
                f"The stored verdict has form {envelope.v} and this release reads up to {VERSION}; upgrade Adhere."
            )
        return msgspec.json.decode(envelope.verdict, type=Verdict)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as err:
        raise UndecodableVerdictError("The stored verdict is not readable; it was set aside as a dead letter.") from err


def _encode(verdict: Verdict) -> bytes:
    builtins = msgspec.to_builtins(verdict, enc_hook=placeholder)
    return msgspec.json.encode({"v": VERSION, "verdict": plain_json(builtins)})


def _shorten(evidence: Evidence) -> Evidence:
    return dataclasses.replace(evidence, quote=clean_text(evidence.quote, max_chars=1000))
