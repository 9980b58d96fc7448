"""The table of instrumentations, from real captures with known transcripts, where their folder is beside the checkout.

One row an instrumented stack: which scopes wrote the telemetry, which dialects read it, what joined its turns, which
parts of the transcripts came back. Facts only; nothing that was said in a capture gets into the table.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from collector.assembly.reconstruct import reconstruct
from collector.assembly.render import to_json
from collector.dialects.registry import read_log, read_span
from collector.messages.decoder import MessageDecoder
from collector.model import ConversationIdSource, GapKind
from collector.operation import Operation, OperationKind
from collector.telemetry.decode import iter_logs, iter_spans
from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import Scope, Signal
from docs.generate.markdown import code, table

SHARED = Path(__file__).resolve().parents[3] / "shared"

_PARTS = {
    "system": "system prompt",
    "user": "user input",
    "calls": "tool calls",
    "results": "tool results",
    "output": "answers",
}
_JOINS = {
    ConversationIdSource.ATTRIBUTE: "conversation id",
    ConversationIdSource.ANCESTOR: "conversation id of a parent span",
    ConversationIdSource.TRACE: "conversation id elsewhere in the trace",
    ConversationIdSource.RESOURCE: "conversation id of the resource",
    ConversationIdSource.RESPONSE_ID: "response id",
    ConversationIdSource.HISTORY: "history",
    ConversationIdSource.TRACE_ID: "nothing beyond the trace",
}
_NOT_THE_SUBJECT = re.compile(r"opentelemetry|openinference|traceloop|instrumentation|^(python|node|httpx|logfire)$")
"""Packages that carry or write telemetry, and the ground everything stands on."""


@dataclass(slots=True)
class _Row:
    captures: int = 0
    exact: int = 0
    joins: set[ConversationIdSource] = field(default_factory=set)
    gaps: Counter[GapKind] = field(default_factory=Counter)
    applies: Counter[str] = field(default_factory=Counter)
    holds: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, order=True)
class _Stack:
    subject: str
    scopes: str
    dialects: str


def captures() -> Sequence[Path]:
    found = (path.parent for path in (SHARED / "corpus").glob("*/*/otlp.jsonl"))
    return sorted(path for path in found if (path / "expected.json").exists())


def instrumentation_table() -> str:
    scorer = _scorer()
    rows: dict[_Stack, _Row] = {}
    for capture in captures():
        truth = json.loads((capture / "expected.json").read_text(encoding="utf-8"))
        requests = list(read_jsonl(capture / "otlp.jsonl"))
        row = rows.setdefault(_stack(requests, truth["versions"]), _Row())
        _add(row, capture, requests, truth, scorer)
    head = ("what is instrumented", "by", "dialect", "turns joined by", "exact", "recovered", "not sent", "gaps seen")
    return table(head, [_cells(stack, rows[stack]) for stack in sorted(rows)])


def _add(row: _Row, capture: Path, requests: Sequence[tuple[Signal, bytes]], truth: Any, scorer: ModuleType) -> None:
    conversations = reconstruct(requests)
    joined = truth.get("joined_by") in ("id", "history", "response id", "trace")
    haystack = scorer.haystack(capture / "otlp.jsonl")
    checks = scorer.check(truth["transcript"], [to_json(one) for one in conversations], haystack, joined)
    row.captures += 1
    row.exact += all(holds is not False for holds in checks.values())
    row.joins.update(one.conversation_id_source for one in conversations)
    row.gaps.update({gap for one in conversations for turn in one.turns for gap in turn.gaps})
    row.applies.update(name for name in _PARTS if checks[name] is not None)
    row.holds.update(name for name in _PARTS if checks[name])


def _stack(requests: Sequence[tuple[Signal, bytes]], versions: Mapping[str, str]) -> _Stack:
    scopes: set[tuple[str, str]] = set()
    dialects: set[str] = set()
    for scope, operation in _operations(requests):
        if operation.kind is not OperationKind.OTHER:
            scopes.add((scope.name, scope.version))
            dialects.update(operation.dialect.split("+"))
    known = sorted(f"{name} {version}".strip() for name, version in scopes if _is_of(name, version, versions))
    return _Stack(
        subject=", ".join(f"{name} {version}" for name, version in sorted(versions.items()) if _is_subject(name)),
        scopes=", ".join(map(code, known)) or "by hand, or nothing that is known",
        dialects=", ".join(map(code, sorted(dialects))) or "none",
    )


def _operations(requests: Sequence[tuple[Signal, bytes]]) -> Iterator[tuple[Scope, Operation]]:
    decoder = MessageDecoder()
    for signal, body in requests:
        if signal is Signal.TRACES:
            found = [(span.scope, read_span(span, decoder)) for span in iter_spans(body)]
        elif signal is Signal.LOGS:
            found = [(record.scope, read_log(record, decoder)) for record in iter_logs(body)]
        else:
            continue
        yield from ((scope, operation) for scope, operation in found if operation is not None)


def _is_of(scope: str, version: str, versions: Mapping[str, str]) -> bool:
    """Of a package, and not the application's own."""
    words = {word for name in versions for word in _words(name)}
    return bool(words & _words(scope)) or (bool(version) and version in versions.values())


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", name.lower()))


def _is_subject(package: str) -> bool:
    return not _NOT_THE_SUBJECT.search(package)


def _cells(stack: _Stack, row: _Row) -> list[str]:
    recovered = [
        text if row.holds[name] == row.applies[name] else f"{text} ({row.holds[name]} of {row.applies[name]})"
        for name, text in _PARTS.items()
        if row.applies[name]
    ]
    absent = [text for name, text in _PARTS.items() if not row.applies[name]]
    gaps = [f"{code(gap)} ({row.gaps[gap]} of {row.captures})" for gap in GapKind if row.gaps[gap]]
    return [
        stack.subject or "an agent without a framework",
        stack.scopes,
        stack.dialects,
        ", ".join(text for source, text in _JOINS.items() if source in row.joins) or "-",
        f"{row.exact} of {row.captures}",
        ", ".join(recovered) or "-",
        ", ".join(absent) or "-",
        ", ".join(gaps) or "-",
    ]


def _scorer() -> ModuleType:
    path = SHARED / "tools" / "score_reconstruction.py"
    spec = importlib.util.spec_from_file_location("score_reconstruction", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"The tool that scores reconstructions is not at {path}.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
