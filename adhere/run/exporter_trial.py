"""Trying one exporter: a test score sent through it, at once and past the outbox, and looked for afterwards."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from prometheus_client import CollectorRegistry

from adhere.config.judging import NamedEntry
from adhere.config.model import Config
from adhere.errors import CommandError, UsageError
from adhere.run.exporting import exporter_context
from collector.clock import Clock, SystemClock
from collector.errors import AdhereError, RetryableError, UnauthenticatedError
from evaluators.verdict import Verdict
from exporters.errors import ExporterConfigError, PartialExportError, TargetUnknownError
from exporters.exporter import BackgroundExporter, Exporter
from exporters.metrics import ExportMetrics
from exporters.prometheus import PrometheusExporter
from exporters.registry import ExporterContext, build_exporters
from exporters.scores.exporter import ReadableBackend, ScoreExporter
from exporters.scores.trial import TRIAL_EVALUATOR, trial_verdict

_POLL_S = 1.0


@dataclass(frozen=True, slots=True)
class Target:
    trace_id: str
    span_id: str
    is_made_up: bool

    @classmethod
    def of(cls, *, trace_id: str | None, span_id: str | None) -> Self:
        """Raises UsageError."""
        for option, value, digits in (("--trace-id", trace_id, 32), ("--span-id", span_id, 16)):
            if value is not None and not re.fullmatch(rf"(?!0+$)[0-9a-f]{{{digits}}}", value.lower()):
                raise UsageError(f"{option} takes {digits} hexadecimal digits, not all of them 0.")
        if (trace_id is None) != (span_id is None):
            raise UsageError("--trace-id and --span-id name a span together; give both or neither.")
        if trace_id is None or span_id is None:
            return cls(secrets.token_hex(16), secrets.token_hex(8), is_made_up=True)
        return cls(trace_id.lower(), span_id.lower(), is_made_up=False)


async def try_exporter(config: Config, name: str, *, target: Target, wait_s: float) -> Sequence[str]:
    """What to tell, a line for each destination of the exporter. Raises UsageError and CommandError."""
    clock = SystemClock()
    entry = _entry(config, name)
    try:
        exporters = build_exporters(entry.name, entry.options, context=_context(config, clock=clock))
    except ExporterConfigError as err:
        raise UsageError(str(err)) from err
    verdict = trial_verdict(trace_id=target.trace_id, span_id=target.span_id, now_ns=clock.now_ns())
    try:
        return [await _try(exporter, verdict, target=target, clock=clock, wait_s=wait_s) for exporter in exporters]
    finally:
        for exporter in exporters:
            await exporter.close()


async def _try(exporter: Exporter, verdict: Verdict, *, target: Target, clock: Clock, wait_s: float) -> str:
    if isinstance(exporter, PrometheusExporter | BackgroundExporter):
        return f"{exporter.name} sends totals, not scores: there is no single score to try."
    try:
        await exporter.export([verdict])
    except PartialExportError as err:
        raise _failure(exporter, next(iter(err.failures.values())), target=target) from err
    except AdhereError as err:
        raise _failure(exporter, err, target=target) from err
    sent = f"{exporter.name} took the test score {TRIAL_EVALUATOR} (verdict {verdict.id})"
    backend = exporter.backend if isinstance(exporter, ScoreExporter) else None
    if not isinstance(backend, ReadableBackend):
        return f"{sent}; its API gives nothing back, so look for it there."
    found = await _look_for(backend, verdict, clock=clock, wait_s=wait_s)
    if found is None:
        raise CommandError(f"{sent}, but it could not be read back within {wait_s:g} s; look for it there.")
    return f"{sent} and gave it back: {found}."


async def _look_for(backend: ReadableBackend, verdict: Verdict, *, clock: Clock, wait_s: float) -> str | None:
    """Backends take scores in and show them some time later. An error while looking is told if it is the last word."""
    until_s = clock.monotonic_s() + wait_s
    while True:
        try:
            found = await backend.find(verdict)
        except RetryableError as err:
            if clock.monotonic_s() >= until_s:
                raise CommandError(f"The score was sent, but reading it back failed: {err}") from err
            found = None
        except AdhereError as err:
            raise CommandError(f"The score was sent, but reading it back failed: {err}") from err
        if found is not None or clock.monotonic_s() >= until_s:
            return found
        await clock.sleep(_POLL_S)


def _failure(exporter: Exporter, err: AdhereError, *, target: Target) -> CommandError:
    if isinstance(err, TargetUnknownError):
        way_out = (
            "Address and credentials work as far as this; name a span that it has with --trace-id and --span-id."
            if target.is_made_up
            else "Does the telemetry of this trace go to the same project?"
        )
        return CommandError(f"{exporter.name} does not know the span {target.span_id}: {err} {way_out}")
    if isinstance(err, UnauthenticatedError):
        return CommandError(f"{exporter.name} refused the credentials: {err} Check the key and what it may do.")
    return CommandError(f"{exporter.name} did not take the test score: {err}")


def _entry(config: Config, name: str) -> NamedEntry:
    named = [entry for entry in config.exporters if (entry.options.get("name") or entry.name) == name]
    found = named or [entry for entry in config.exporters if entry.name == name]
    if len(found) != 1:
        names = ", ".join(str(entry.options.get("name") or entry.name) for entry in config.exporters) or "none"
        raise UsageError(f"The configuration has {len(found)} exporters named {name!r}; it has: {names}.")
    return found[0]


def _context(config: Config, *, clock: Clock) -> ExporterContext:
    registry = CollectorRegistry()
    return exporter_context(
        config.data_dir, clock=clock, registry=registry, metrics=ExportMetrics(registry), environ=os.environ
    )
