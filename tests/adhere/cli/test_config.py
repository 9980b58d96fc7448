from __future__ import annotations

import json
from pathlib import Path

from tests.support.command_line import CommandLine


def test_the_default_configuration_holds(adhere: CommandLine) -> None:
    shown = adhere("config", "check")

    assert shown.code == 0
    assert "receives OTLP/gRPC on 127.0.0.1:4317" in shown.out
    assert "has no judge: rules and checks only" in shown.out
    assert shown.out.endswith("The default configuration holds.\n")


def test_check_says_what_would_run(adhere: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(
        "relay: [{endpoint: 'http://tempo:4318', name: tempo}]\njudge: {model: small, base_url: 'http://a/v1'}\n"
        "evaluators: [{role_adherence: {on: turn}}]\nexporters: [otlp: {endpoint: 'http://tempo:4318'}]\n"
    )

    shown = adhere("config", "check", file)

    assert shown.code == 0
    assert {"relays to tempo", "asks small", "judges role_adherence on each turn", "exports to otlp"} <= set(
        shown.out.splitlines()
    )


def test_check_names_every_problem_and_opens_nothing(adhere: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(f"data_dir: {tmp_path / 'data'}\nshutdown_s: -1\njudge: {{modell: x}}\n")

    shown = adhere("config", "check", file)

    assert shown.code == 2
    assert [line.startswith(f"Error: {file}: ") for line in shown.err.splitlines()] == [True, True]
    assert not (tmp_path / "data").exists()


def test_the_schema_is_json_and_complete(adhere: CommandLine) -> None:
    shown = adhere("config", "schema")

    schema = json.loads(shown.out)
    assert shown.code == 0
    assert {"receivers", "relay", "judge", "evaluators", "exporters", "data_dir"} <= schema["properties"].keys()
    assert schema["additionalProperties"] is False


def test_check_finds_exporters_that_have_nowhere_to_send(adhere: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(f"data_dir: {tmp_path / 'data'}\nexporters: [otlp, jsonl, prometheus]\n")

    shown = adhere("config", "check", file)

    assert shown.code == 2
    assert shown.err.startswith("Error: The exporter 'otlp' needs an address; set endpoint")
    assert len(shown.err.splitlines()) == 1
    assert not (tmp_path / "data").exists()
