"""Files of OTLP/JSON lines, as the OpenTelemetry Collector's file exporter writes them.

One Export*ServiceRequest a line: `resourceSpans`, `resourceLogs` or `resourceMetrics` says which. Blank lines are
skipped; any other line that is no request raises MalformedRequestError naming file and line number.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from collector.errors import MalformedRequestError, RequestTooLargeError
from collector.telemetry.json_decode import document_to_protobuf, parse_json
from collector.telemetry.json_names import ENVELOPE_NAMES, snake_case
from collector.telemetry.records import Signal


def read_jsonl(path: Path, *, max_line_bytes: int = 256 << 20) -> Iterator[tuple[Signal, bytes]]:
    """Each line's signal and its request as protobuf bytes; one line is in memory at a time."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(max_line_bytes + 1):
            number += 1
            if len(line) > max_line_bytes:
                raise RequestTooLargeError(
                    f"Line {number} of {path} has more than {max_line_bytes} bytes; split it into smaller requests."
                )
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            if line.strip():
                yield _decode(line, where=f"Line {number} of {path}")


def _decode(line: bytes, *, where: str) -> tuple[Signal, bytes]:
    try:
        document = parse_json(line)
        signal = _signal(document)
        if signal is not None:
            return signal, document_to_protobuf(signal, document)
    except MalformedRequestError as err:
        raise MalformedRequestError(f"{where} cannot be read: {err}") from err
    expected = ", ".join(names.groups for names in ENVELOPE_NAMES.values())
    raise MalformedRequestError(f"{where} is no OTLP/JSON request: it needs exactly one of {expected}.")


def _signal(document: object) -> Signal | None:
    if not isinstance(document, dict):
        return None
    found = [signal for signal, n in ENVELOPE_NAMES.items() if n.groups in document or snake_case(n.groups) in document]
    return found[0] if len(found) == 1 else None
