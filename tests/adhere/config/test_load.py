from __future__ import annotations

from pathlib import Path

import pytest

from adhere.config import Config, config_schema, load_config
from adhere.config.load import parse_config
from adhere.errors import ConfigError

DESIGN_EXAMPLE = """
receivers: {grpc: {endpoint: 127.0.0.1:4317}, http: {endpoint: 127.0.0.1:4318}}
relay: [{endpoint: http://tempo:4318, enrich: false}]
judge: {model: gpt-5-mini, base_url: http://localhost:1/v1, max_concurrency: 8}
evaluators:
  - task_adherence: {on: turn, sample: 0.25}
  - role_adherence: {on: conversation, scale: graded, threshold: 0.8}
  - conversation_completeness: {on: conversation}
  - rules: {rules: [{before: issue_refund, require: verify_identity}, {never: drop_table}, {max_calls: 20}]}
exporters: [otlp: {endpoint: http://tempo:4318}, prometheus: {}]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "adhere.yaml"
    path.write_text(text)
    return path


def test_no_file_gives_defaults_that_work() -> None:
    config = load_config(None, environ={})

    assert config.receivers.http.endpoint == "127.0.0.1:4318"
    assert config.evaluators[0].name == "rules"


def test_the_documented_example_loads(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, DESIGN_EXAMPLE), environ={})

    assert config.relay[0].endpoint == "http://tempo:4318"
    assert config.evaluators[0].options == {"on": "turn", "sample": 0.25}
    assert config.exporters[1].name == "prometheus"


def test_environment_references_are_expanded(tmp_path: Path) -> None:
    path = write(tmp_path, "judge: {api_key: '${env:KEY}', model: '${env:MODEL:-small}', base_url: 'http://a/$$x'}")

    config = load_config(path, environ={"KEY": "canary-7f3"})

    assert config.judge is not None
    assert config.judge.api_key is not None
    assert config.judge.api_key.get_secret_value() == "canary-7f3"
    assert (config.judge.model, config.judge.base_url) == ("small", "http://a/$x")


def test_secrets_do_not_show(tmp_path: Path) -> None:
    path = write(tmp_path, "judge: {api_key: canary-7f3}\nrelay: [{endpoint: 'http://a:1', headers: {k: canary-7f3}}]")

    config = load_config(path, environ={})

    assert "canary-7f3" not in repr(config)
    assert "canary-7f3" not in config.model_dump_json()


BROKEN = {
    "unknown key": ("receivers: {htp: {}}", "receivers.htp is not a known key; did you mean 'http'?"),
    "unknown key under a name": ("judge: {prices: {m: {inptu: 1}}}", "inptu is not a known key; did you mean 'input'?"),
    "unknown nested key": ("judge: {max_concurency: 8}", "did you mean 'max_concurrency'?"),
    "wrong type": ("judge: {max_concurrency: many}", "judge.max_concurrency is 'many' and must be a whole number."),
    "mapping in place of a list": (
        "relay: {endpoint: 'http://a:1'}",
        "relay must be a list; begin each entry with `- `",
    ),
    "text in place of a mapping": ("relay: ['http://a:1']", "relay[0] must be a mapping of names to values"),
    "out of range": ("judge: {max_concurrency: 0}", "judge.max_concurrency is 0 and must be over 0."),
    "no such choice": (
        "relay: [{endpoint: 'http://a:1', compression: lz4}]",
        "relay[0].compression is 'lz4' and must be 'none', 'gzip' or 'zstd'.",
    ),
    "name": ("relay: [{endpoint: 'http://a:1', name: ../a}]", "relay[0].name is '../a' and must be a text like ^["),
    "no text": ("judge: {api_key: 12345678}", "judge.api_key must be a text; put it in quotes."),
    "key no text": ("evaluators: [{rules: {5: 1}}]", "evaluators[0].options has the key 5, which is no text; put it"),
    "no path": ("data_dir: 5", "data_dir is 5 and must be a path."),
    "empty path": ("data_dir: ''", "data_dir: it is empty; name a folder, or leave the key out."),
    "no port": ("receivers: {http: {endpoint: localhost}}", "'localhost' is not host:port"),
    "no host": ("receivers: {http: {endpoint: ':4318'}}", "names no host"),
    "all receivers off": ("receivers: {grpc: {enabled: false}, http: {enabled: false}}", "both off"),
    "segments over the bound": ("journal: {max_bytes: 10}", "at most half of max_bytes"),
    "list as key": ("? [judge, relay]\n: {}", "a list or mapping is no key at line 1, column 3"),
    "key twice": ("judge: {model: a}\njudge: {model: b}", "the key 'judge' stands twice at line 2"),
    "no YAML": ("a: [", "no valid YAML"),
    "no mapping": ("- a", "must be a mapping"),
    "python tag": ("a: !!python/object/apply:os.system [ls]", "no valid YAML"),
    "variable not set": ("judge: {api_key: '${env:NOPE}'}", "judge.api_key: the environment variable NOPE is not set"),
    "other reference": ("judge: {api_key: '${file:x}'}", "${file:x} is not a reference that is known"),
    "two names in an entry": ("evaluators: [{rules: {}, other: {}}]", "one name with its options"),
    "options no mapping": ("evaluators: [{rules: 3}]", "the options of 'rules' must be a mapping"),
    "enrich": ("relay: [{endpoint: 'http://a:1', enrich: true, signals: [logs]}]", "signals has no traces"),
    "key without cert": (
        "relay: [{endpoint: 'https://a:1', tls: {key_file: k}}]",
        "cert_file and key_file go together",
    ),
    "negative time": ("shutdown_s: -1", "shutdown_s is -1 and must be over 0."),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_configuration_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)

    with pytest.raises(ConfigError) as caught:
        load_config(path, environ={})

    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_every_problem_is_reported_at_once(tmp_path: Path) -> None:
    path = write(tmp_path, "judge: {modell: a}\nshutdown_s: x\nstrictt: true")

    with pytest.raises(ConfigError) as caught:
        load_config(path, environ={})

    assert len(caught.value.problems) == 3


def test_a_secret_in_a_broken_configuration_does_not_show() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config({"judge": {"api_key": ["canary-7f3"]}}, source="test", environ={})

    assert "canary-7f3" not in str(caught.value)


def test_what_the_environment_holds_does_not_show() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config({"shutdown_s": "${env:KEY}"}, source="test", environ={"KEY": "canary-7f3"})

    assert caught.value.problems == ["test: shutdown_s is '${env:KEY}' and must be a number."]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_config(tmp_path / "none.yaml")


def test_the_schema_describes_every_top_level_option() -> None:
    properties = config_schema()["properties"]

    assert set(properties) == set(Config.model_fields)
    assert all("machine" not in str(value) for value in properties.values())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("shutdown_s: 1.0e+400", "shutdown_s"),
        ("judge: {deadline_s: .inf}", "judge.deadline_s"),
        ("journal: {max_bytes: 99999999999999999999999999}", "journal.max_bytes"),
        ("receivers: {http: {endpoint: 'http://127.0.0.1:4318'}}", "is a URL"),
        ("receivers: {http: {endpoint: '127.0.0.1:4317'}}", "receivers.grpc.endpoint and receivers.http.endpoint"),
        ("telemetry: {endpoint: '127.0.0.1:4318'}", "receivers.http.endpoint and telemetry.endpoint"),
        ("receivers: {grpc: {bearer_token: '${env:TOKEN:-}'}}", "receivers.grpc.bearer_token: the token is empty"),
        ("telemetry: {bearer_token: ' '}", "telemetry.bearer_token: the token is empty"),
    ],
)
def test_values_that_would_not_hold_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_config(write(tmp_path, text), environ={})


def test_a_free_port_may_be_asked_for_more_than_once(tmp_path: Path) -> None:
    endpoint = "{endpoint: '127.0.0.1:0'}"

    config = load_config(write(tmp_path, f"receivers: {{grpc: {endpoint}, http: {endpoint}}}"), environ={})

    assert config.receivers.grpc.endpoint == config.receivers.http.endpoint
