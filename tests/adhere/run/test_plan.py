from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from adhere.config import Config, load_config
from adhere.errors import ConfigError
from adhere.run.checks import check_plan
from adhere.run.judging import judge_settings
from adhere.run.plan import telemetry_hosts

CANARY = "canary-4d1"
KEY = {"OPENAI_API_KEY": CANARY}


Configure = Callable[[str], Config]


@pytest.fixture
def config(tmp_path: Path) -> Configure:
    def load(text: str) -> Config:
        file = tmp_path / "adhere.yaml"
        file.write_text(text)
        return load_config(file, environ={})

    return load


def problems(config: Config, environ: Mapping[str, str]) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        check_plan(config, environ=environ)
    return caught.value.problems


PLANS: Mapping[str, tuple[str, Mapping[str, str], str]] = {
    "grpc": ("{}", {}, "receives OTLP/gRPC on 127.0.0.1:4317"),
    "http": ("{}", {}, "receives OTLP/HTTP on 127.0.0.1:4318"),
    "no judge": ("{}", {}, "has no judge: rules and checks only"),
    "judge": ("judge: {model: small}", {}, "asks small"),
    "judge of the environment": ("{}", KEY, "asks gpt-5-mini"),
    "jury": ("judge: {model: a, jury: {samples: 1, models: [b]}}", {}, "asks a and as a jury a, b"),
    "even jury": (
        "judge: {model: a, jury: {samples: 1}}",
        {},
        "asks a and as a jury a (2 answers: even votes are an abstention, without a score)",
    ),
    "budget": (
        "judge: {model: own, prices: {own: {input: 0, output: 0}}, budget: {usd_per_day: 1}}",
        {},
        "asks own, for at most 1 USD a day",
    ),
    "relay": ("relay: [{endpoint: 'http://tempo:4318', name: tempo}]", {}, "relays to tempo"),
    "relay of the environment": ("relay: [{}]", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:4318"}, "relays to a-4318"),
    "relay that enriches": (
        "relay: [{endpoint: 'http://tempo:4318', name: tempo, enrich: true, enrich_deadline_s: 12}]",
        {},
        "relays to tempo, target spans held for scores up to 12 s",
    ),
    "evaluator": ("evaluators: [{role_adherence: {on: turn}}]", {}, "judges role_adherence on each turn"),
    "evaluator by another name": ("evaluators: [{rules: {as: safety}}]", {}, "judges safety on each turn"),
    "exporter": ("exporters: [jsonl]", {}, "exports to jsonl"),
    "strict and guarded": (
        "strict: true\nreceivers: {http: {endpoint: '0.0.0.0:4318', bearer_token: x}}",
        {},
        "receives OTLP/HTTP on 0.0.0.0:4318",
    ),
}


@pytest.mark.parametrize(("text", "environ", "line"), PLANS.values(), ids=PLANS)
def test_the_plan_says_what_would_run(config: Configure, text: str, environ: Mapping[str, str], line: str) -> None:
    assert line in check_plan(config(text), environ=environ)


def test_a_receiver_that_is_off_is_not_in_the_plan(config: Configure) -> None:
    assert not any("gRPC" in line for line in check_plan(config("receivers: {grpc: {enabled: false}}"), environ={}))


BROKEN: Mapping[str, tuple[str, Mapping[str, str], str]] = {
    "evaluator unknown": ("evaluators: [task_adherance]", {}, "task_adherance"),
    "evaluator option unknown": ("evaluators: [{task_adherence: {onn: turn}}]", {}, "task_adherence.onn"),
    "evaluator option wrong": ("evaluators: [{role_adherence: {threshold: 3}}]", {}, "role_adherence.threshold"),
    "sample out of range": ("evaluators: [{task_adherence: {sample: 2}}]", {}, "sample"),
    "unit unknown": ("evaluators: [{task_adherence: {on: session}}]", {}, "session"),
    "rule empty": ("evaluators: [{rules: {rules: [{}]}}]", {}, "rules"),
    "rule unknown": ("evaluators: [{rules: {rules: [{befor: x, require: y}]}}]", {}, "befor"),
    "evaluator twice": ("evaluators: [rules, rules]", {}, "Two evaluators are named 'rules'"),
    "exporter unknown": ("exporters: [kafka]", {}, "'kafka'"),
    "exporter option unknown": ("exporters: [{jsonl: {pathh: x}}]", {}, "pathh"),
    "exporter option wrong": ("exporters: [{otlp: {metrics_interval_s: soon}}]", {}, "metrics_interval_s"),
    "exporter twice": ("exporters: [jsonl, jsonl]", {}, "Two exporters are named 'jsonl'"),
    "relay nowhere": ("relay: [{}]", {}, "relay[0].endpoint is not set"),
    "relay no URL": ("relay: [{endpoint: 'tempo:4318'}]", {"OTEL_EXPORTER_OTLP_PROTOCOL": "smoke"}, "relay[0]"),
    "relay scheme": ("relay: [{endpoint: 'ftp://tempo:4318'}]", {}, "must begin with http:// or https://"),
    "relay names": ("relay: [{endpoint: 'http://a:1'}, {endpoint: 'http://a:1'}]", {}, "another relay is named 'a-1'"),
    "relay to our HTTP": ("relay: [{endpoint: 'http://localhost:4318'}]", {}, "is Adhere's own receiver"),
    "relay to our gRPC": ("relay: [{endpoint: 'http://127.0.0.1:4317'}]", {}, "is Adhere's own receiver"),
    "exporter to our HTTP": (
        "exporters: [{otlp: {endpoint: 'http://127.0.0.1:4318'}}]",
        {},
        "The exporter otlp is Adhere's",
    ),
    "exporter to us by the agent's variable": (
        "exporters: [otlp]",
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4317"},
        "The exporter otlp is Adhere's own receiver",
    ),
    "relay to our IPv6": (
        "receivers: {http: {endpoint: '[::1]:9000'}}\nrelay: [{endpoint: 'http://[::1]:9000'}]",
        {},
        "is Adhere's own receiver",
    ),
    "relay enriched too early": (
        "relay: [{endpoint: 'http://a:1', enrich: true, enrich_deadline_s: 1}]",
        {},
        "relay[0].enrich_deadline_s is 1 s, and no turn is judged before it was quiet for 1 s",
    ),
    "relay enriched by nobody": (
        "relay: [{endpoint: 'http://a:1', enrich: true}]\nevaluators: [{task_adherence: {on: conversation}}]",
        {},
        "relay[0].enrich waits for the scores of turns",
    ),
    "strict and public": (
        "strict: true\nreceivers: {grpc: {endpoint: '0.0.0.0:4317'}}",
        {},
        "strict: OTLP/gRPC on 0.0.0.0:4317 is open to others",
    ),
    "header": ("relay: [{endpoint: 'http://a:1', headers: {'no good': x}}]", {}, "'no good'"),
    "address of the judge": ("judge: {base_url: 'http://127.0.0.1:80 80/v1'}", {}, "holds a space"),
    "budget without a price": (
        "judge: {model: house-model, budget: {usd_per_month: 9}}",
        {},
        "the price of 'house-model' is not known: set it in judge.prices (0 for a model of your own), or give",
    ),
    "budget without a juror's price": (
        "judge: {jury: {models: [house-model]}, budget: {usd_per_month: 9}}",
        {},
        "the price of 'house-model' is not known",
    ),
    "budget for no answer": (
        "judge: {budget: {tokens_per_day: 5000}}",
        {},
        "judge.budget.tokens_per_day (5,000 tokens) is below what one answer of 'gpt-5-mini' may take (8,192 tokens)",
    ),
    "environment": ("relay: [{endpoint: 'http://a:1'}]", {"OTEL_EXPORTER_OTLP_TIMEOUT": "soon"}, "TIMEOUT"),
}


@pytest.mark.parametrize(("text", "environ", "named"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_work_is_named(config: Configure, text: str, environ: Mapping[str, str], named: str) -> None:
    found = problems(config(text), environ)

    assert len(found) == 1
    assert named in found[0]


def test_every_problem_is_named_at_once(config: Configure) -> None:
    text = "evaluators: [a, b]\nexporters: [c]\nrelay: [{}]"

    assert len(problems(config(text), {})) == 4


SECRETS = {
    "user-info": f"relay: [{{endpoint: 'ftp://user:{CANARY}@a:1'}}]",
    "query": f"relay: [{{endpoint: 'ftp://a:1/?key={CANARY}'}}]",
    "header": f"relay: [{{endpoint: 'http://a:1', headers: {{'x y': {CANARY}}}}}]",
    "header value": f'relay: [{{endpoint: "http://a:1", headers: {{x: "{CANARY}\\n"}}}}]',
    "exporter header": f"exporters: [{{otlp: {{headers: [{CANARY}]}}}}]",
    "judge": f"judge: {{api_key: {CANARY}, headers: {{x: {CANARY}}}}}\nevaluators: [nonsense]",
}


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
def test_no_problem_shows_a_secret(config: Configure, text: str) -> None:
    assert CANARY not in "\n".join(problems(config(text), {}))


JUDGES: Mapping[str, tuple[str, Mapping[str, str], Mapping[str, Any] | None]] = {
    "none": ("{}", {}, None),
    "empty variables": ("{}", {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}, None),
    "key": ("{}", KEY, {"api_key": CANARY, "base_url": "https://api.openai.com/v1"}),
    "address": ("{}", {"OPENAI_BASE_URL": "http://a/v1"}, {"api_key": None, "base_url": "http://a/v1"}),
    "configuration first": (
        "judge: {base_url: 'http://b/v1', api_key: own}",
        {**KEY, "OPENAI_BASE_URL": "http://a/v1"},
        {"api_key": "own", "base_url": "http://b/v1"},
    ),
    "key of the environment": ("judge: {base_url: 'http://b/v1'}", KEY, {"api_key": CANARY, "base_url": "http://b/v1"}),
}


@pytest.mark.parametrize(("text", "environ", "expected"), JUDGES.values(), ids=JUDGES)
def test_the_judge_comes_from_the_configuration_then_the_environment(
    config: Configure, text: str, environ: Mapping[str, str], expected: Mapping[str, Any] | None
) -> None:
    found = judge_settings(config(text), environ=environ)

    shown = found and {
        "api_key": found.api_key and found.api_key.get_secret_value(),
        "base_url": found.base_url,
    }
    assert shown == expected


@pytest.mark.parametrize(
    ("telemetry", "hosts"),
    [
        pytest.param({}, (), id="loopback_knows_no_names"),
        pytest.param({"endpoint": "0.0.0.0:9464"}, ("*",), id="public_knows_every_name"),
        pytest.param({"endpoint": "0.0.0.0:9464", "allowed_hosts": ["adhere"]}, ("adhere",), id="named"),
    ],
)
def test_which_host_names_reach_the_telemetry_port(telemetry, hosts) -> None:
    config = Config.model_validate({"telemetry": telemetry})

    assert telemetry_hosts(config) == hosts
