"""Metrics as text: which format a scraper wants, and several processes' metrics on one page.

Texts are joined family by family, since a family may stand on a page once only. A sample that two sources have under
the same labels is shown from the first of them; `of_process` tells them apart by a label.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

_SAMPLE_ID = re.compile(r'[^{\s]+(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?')
_METADATA = frozenset({"HELP", "TYPE", "UNIT"})


class ExpositionFormat(StrEnum):
    """The values are content types."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


MetricsSource: TypeAlias = Callable[[ExpositionFormat], Awaitable[str]]
"""One process's families as text in that format."""


def registry_source(registry: CollectorRegistry) -> MetricsSource:
    """Metrics of this process; rendered on a thread, as a large page takes a while."""

    async def read(wanted: ExpositionFormat) -> str:
        return (await asyncio.to_thread(_render, registry, wanted)).decode()

    return read


def of_process(source: MetricsSource, process: str) -> MetricsSource:
    """The same with the label `process` on every sample."""
    label = f'process="{process}"'

    def labelled(line: str) -> str:
        if not line or line.startswith("#"):
            return line
        end = re.search(r"[{\s]", line)
        if end is None:
            return line
        name, rest = line[: end.start()], line[end.start() :]
        if not rest.startswith("{"):
            return f"{name}{{{label}}}{rest}"
        return f"{name}{{{label}{'' if rest.startswith('{}') else ','}{rest[1:]}"

    async def read(wanted: ExpositionFormat) -> str:
        return "\n".join(map(labelled, (await source(wanted)).split("\n")))

    return read


def wanted_format(accept: str) -> ExpositionFormat:
    """By an Accept header; plain text for whoever does not ask for OpenMetrics first."""
    quality = {"openmetrics": 0.0, "text": 0.0}
    for entry in accept.lower().split(","):
        media_type, *parameters = (part.strip() for part in entry.split(";"))
        given = dict(parameter.partition("=")[::2] for parameter in parameters)
        kind = {"application/openmetrics-text": "openmetrics", "text/plain": "text"}.get(media_type)
        if kind is not None:
            quality[kind] = max(quality[kind], _number(given.get("q", "1")))
    is_openmetrics = quality["openmetrics"] > 0 and quality["openmetrics"] >= quality["text"]
    return ExpositionFormat.OPENMETRICS if is_openmetrics else ExpositionFormat.TEXT


def merge(texts: Iterable[str], *, wanted: ExpositionFormat) -> str:
    families: dict[str, _Family] = {}
    for text in texts:
        _collect(text, families)
    lines = [line for family in families.values() for line in (*family.metadata.values(), *family.samples.values())]
    if wanted is ExpositionFormat.OPENMETRICS:
        lines.append("# EOF")
    return "\n".join(lines) + "\n" if lines else ""


@dataclass(slots=True)
class _Family:
    metadata: dict[str, str] = field(default_factory=dict)
    samples: dict[str, str] = field(default_factory=dict)


def _collect(text: str, families: dict[str, _Family]) -> None:
    name, family, is_refused = "", families.setdefault("", _Family()), False
    for line in text.split("\n"):
        if line.startswith("# "):
            _, kind, *rest = line.split(" ", 3)
            if kind in _METADATA and rest:
                if rest[0] != name:
                    name, family, is_refused = rest[0], families.setdefault(rest[0], _Family()), False
                known = family.metadata.setdefault(kind, line)
                # Two processes that disagree on what a family is cannot share it.
                is_refused = is_refused or (kind == "TYPE" and known != line)
        elif line and not is_refused:
            found = _SAMPLE_ID.match(line)
            family.samples.setdefault(found.group() if found else line, line)


def _render(registry: CollectorRegistry, wanted: ExpositionFormat) -> bytes:
    if wanted is ExpositionFormat.OPENMETRICS:
        return bytes(generate_openmetrics(registry))  # type: ignore[no-untyped-call]  # the library has no types here
    return generate_latest(registry)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
