"""Checks a whole configuration, without opening anything: what would run, and every problem at once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from adhere.config.base import is_loopback, split_endpoint
from adhere.config.judging import NamedEntry
from adhere.config.model import Config
from adhere.config.receiving import ReceiverConfig
from adhere.errors import ConfigError
from adhere.run.destinations import relay_destinations
from adhere.run.judging import budget_settings, judge_settings
from collector.relay.destination import Destination, DestinationError
from collector.relay.environment import destination_from_environment
from evaluators.errors import EvaluatorConfigError
from evaluators.judge.config import JudgeConfig as JudgeSettings
from evaluators.judge.plugin import load_plugin
from evaluators.judge.pricing import check_budget
from evaluators.pipeline.setup import EvaluatorSetup, make_setups
from evaluators.registry import EvaluatorRegistry
from evaluators.verdict import UnitKind
from exporters.errors import ExporterConfigError
from exporters.registry import check_exporter


def check_plan(config: Config, *, environ: Mapping[str, str] | None = None) -> list[str]:
    """What would run, one line each. Raises ConfigError with every problem found."""
    environ = os.environ if environ is None else environ
    problems: list[str] = []
    lines: list[str] = []
    for name, receiver in (("OTLP/gRPC", config.receivers.grpc), ("OTLP/HTTP", config.receivers.http)):
        if receiver.enabled:
            lines.append(f"receives {name} on {receiver.endpoint}")
            problems += [f"strict: {problem}" for problem in public_without_guard(name, receiver) if config.strict]
    try:
        problems += enriched_too_early(config)
        destinations = relay_destinations(config.relay, environ=environ)
        for one, relay in zip(destinations, config.relay, strict=True):
            held = f", target spans held for scores up to {relay.enrich_deadline_s:g} s" if relay.enrich else ""
            lines.append(f"relays to {one.name}{held}")
            problems += own_receivers("relay", one, config)
    except ConfigError as err:
        problems += err.problems
    try:
        judge = judge_settings(config, environ=environ)
        lines.append(_asks(judge, config) if judge else "has no judge: rules and checks only")
        setups = make_setups(
            [(entry.name, entry.options) for entry in config.evaluators], registry=EvaluatorRegistry(), judge=None
        )
        lines += [f"judges {setup.name} on each {setup.evaluator.unit_kind}" for setup in setups]
        problems += enriched_by_nobody(config, setups)
    except EvaluatorConfigError as err:
        problems += str(err).splitlines()
    names = Counter(str(entry.options.get("name") or entry.name) for entry in config.exporters)
    problems += [
        f"Two exporters are named {name!r}; give one of them another name."
        for name, times in names.items()
        if times > 1
    ]
    for entry in config.exporters:
        try:
            check_exporter(entry.name, entry.options)
            lines.append(f"exports to {entry.name}")
            problems += exported_to_ourselves(entry, config, environ=environ)
        except ExporterConfigError as err:
            problems.append(str(err))
    if problems:
        raise ConfigError(problems)
    return lines


def _asks(judge: JudgeSettings, config: Config) -> str:
    budget = budget_settings(config)
    check_budget(budget, [judge, *(replace(judge, model=model) for model in judge.jury.models)])
    if judge.plugin is not None:
        load_plugin(judge.plugin, judge.plugin_options)
    bounds = " and ".join(f"{limit.shown(limit.amount)} a {limit.period}" for limit in budget.limits)
    jury = [judge.model] * judge.jury.samples + list(judge.jury.models)
    more = f" and as a jury {', '.join(jury)}" if jury else ""
    if len(jury) % 2:
        more += f" ({len(jury) + 1} answers: even votes are an abstention, without a score)"
    return f"asks {judge.model}{more}{f', for at most {bounds}' if bounds else ''}"


def public_without_guard(name: str, receiver: ReceiverConfig) -> list[str]:
    host, _ = split_endpoint(receiver.endpoint)
    guarded = receiver.bearer_token is not None or receiver.tls is not None
    if is_loopback(host) or guarded:
        return []
    return [f"{name} on {receiver.endpoint} is open to others without TLS or bearer_token; set one, or use loopback."]


def enriched_by_nobody(config: Config, setups: Sequence[EvaluatorSetup]) -> list[str]:
    """A conversation is judged when it is over, which is later than any span can be held."""
    if any(setup.evaluator.unit_kind is UnitKind.TURN for setup in setups):
        return []
    return [
        f"relay[{index}].enrich waits for the scores of turns, and no evaluator is asked about turns;"
        " give one `on: turn`, or remove enrich."
        for index, relay in enumerate(config.relay)
        if relay.enrich
    ]


def enriched_too_early(config: Config) -> list[str]:
    """No turn is judged before it was quiet, so no score could ever be in time."""
    least_s = config.conversations.quiet.min_s
    return [
        f"relay[{index}].enrich_deadline_s is {relay.enrich_deadline_s:g} s, and no turn is judged before it was quiet"
        f" for {least_s:g} s; raise it, or lower conversations.quiet."
        for index, relay in enumerate(config.relay)
        if relay.enrich and relay.enrich_deadline_s <= least_s
    ]


def exported_to_ourselves(entry: NamedEntry, config: Config, *, environ: Mapping[str, str]) -> list[str]:
    """Easily done where the agent's own OTEL_EXPORTER_OTLP_ENDPOINT, which is us, is in our environment as well."""
    if entry.name != "otlp":
        return []
    options = entry.options
    try:
        found = destination_from_environment(
            environ,
            endpoint=options.get("endpoint"),
            protocol=options.get("protocol"),
            name=str(options.get("name") or entry.name),
        )
    except DestinationError:
        return []  # Said when the exporter is made.
    return own_receivers("exporter", found, config) if found is not None else []


def own_receivers(what: str, destination: Destination, config: Config) -> list[str]:
    """A relay to our own receiver would send everything round for ever, and scores that come back to us end here."""
    own = {
        split_endpoint(receiver.endpoint)
        for receiver in (config.receivers.grpc, config.receivers.http)
        if receiver.enabled
    }
    addresses = {destination.url(signal) for signal in destination.signals}
    for address in addresses:
        url = urlsplit(address or "")
        host = "127.0.0.1" if url.hostname == "localhost" else url.hostname
        if any(url.port == port and (host == ours or is_loopback(host or "")) for ours, port in own):
            return [f"The {what} {destination.name} is Adhere's own receiver; name the backend behind it instead."]
    return []
