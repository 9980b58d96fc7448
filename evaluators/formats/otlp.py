"""OTLP/JSON requests: the conversations that the telemetry in them holds, as a running Adhere would rebuild them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collector.assembly.reconstruct import reconstruct
from collector.errors import PermanentError
from collector.model import Conversation
from collector.telemetry.json_decode import document_to_protobuf
from collector.telemetry.json_names import ENVELOPE_NAMES
from collector.telemetry.records import Signal
from evaluators.errors import InputFormError


def fits(value: object) -> bool:
    return _signal(value) is not None


def read(documents: Sequence[Mapping[str, Any]]) -> list[Conversation]:
    """A conversation may be spread over several documents."""
    return reconstruct(request_of(document) for document in documents)


def request_of(document: Mapping[str, Any]) -> tuple[Signal, bytes]:
    signal = _signal(document)
    try:
        if signal is not None:
            return signal, document_to_protobuf(signal, document)
    except PermanentError as err:
        raise InputFormError(f"The OTLP request cannot be read: {err}") from err
    raise InputFormError("The value is no OTLP/JSON request.")


def _signal(value: object) -> Signal | None:
    if not isinstance(value, Mapping):
        return None
    found = [signal for signal, names in ENVELOPE_NAMES.items() if names.groups in value]
    return found[0] if len(found) == 1 else None
