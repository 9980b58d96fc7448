from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.backends.datadog import DatadogStandIn
from tests.support.backends.langfuse import LangfuseStandIn
from tests.support.backends.phoenix import PhoenixStandIn
from tests.support.backends.stand_in import Scripted
from tests.support.command_line import CommandLine
from tests.support.running_adhere import write_config
from tests.support.verdicts import SPAN_ID, TRACE_ID

TARGET = ("--trace-id", TRACE_ID, "--span-id", SPAN_ID)


async def test_a_score_is_sent_and_read_back(adhere: CommandLine, tmp_path: Path) -> None:
    async with LangfuseStandIn() as langfuse:
        config = write_config(tmp_path, exporters=[{"langfuse": {**langfuse.options, "host": langfuse.url}}])

        shown = await adhere.beside("exporters", "test", "langfuse", "-c", config)

    [stored] = langfuse.stored.values()
    assert shown.code == 0, shown.err
    assert "langfuse took the test score adhere_test" in shown.out
    assert "gave it back: score adhere_test with the id" in shown.out
    assert stored["name"] == "adhere_test"
    assert "sent by `adhere exporters test`" in stored["comment"]


async def test_where_nothing_can_be_read_back_it_says_so(adhere: CommandLine, tmp_path: Path) -> None:
    async with DatadogStandIn() as datadog:
        entry = {"datadog": {**datadog.options, "endpoint": datadog.url, "name": "dd"}}
        config = write_config(tmp_path, exporters=["prometheus", entry])

        shown = await adhere.beside("exporters", "test", "dd", "-c", config, *TARGET)

    assert shown.code == 0, shown.err
    assert "its API gives nothing back" in shown.out
    assert len(datadog.stored) == 1


async def test_a_span_that_the_backend_does_not_know_is_told(adhere: CommandLine, tmp_path: Path) -> None:
    async with PhoenixStandIn() as phoenix:
        config = write_config(tmp_path, exporters=[{"phoenix": {**phoenix.options, "endpoint": phoenix.url}}])

        made_up = await adhere.beside("exporters", "test", "phoenix", "-c", config)
        named = await adhere.beside("exporters", "test", "phoenix", "-c", config, *TARGET)
        phoenix.known["span"].add(SPAN_ID)
        found = await adhere.beside("exporters", "test", "phoenix", "-c", config, *TARGET)

    assert made_up.code == named.code == 1
    assert "name a span that it has with --trace-id and --span-id" in made_up.err
    assert f"does not know the span {SPAN_ID}" in named.err
    assert "same project" in named.err
    assert found.code == 0, found.err


@pytest.mark.parametrize(
    ("scripted", "message"),
    [
        (Scripted(401), "refused the credentials"),
        (Scripted(503), "503 Service Unavailable"),
        (Scripted(307), "Redirects are not followed"),
        (Scripted(422, {"message": "ml_app is not allowed"}), "ml_app is not allowed"),
    ],
    ids=["key", "away", "redirect", "refused"],
)
async def test_a_failure_is_one_sentence_without_the_key(
    adhere: CommandLine, tmp_path: Path, scripted: Scripted, message: str
) -> None:
    async with DatadogStandIn() as datadog:
        datadog.script.append(scripted)
        entry = {"datadog": {**datadog.options, "endpoint": datadog.url}}
        config = write_config(tmp_path, exporters=[entry])

        shown = await adhere.beside("exporters", "test", "datadog", "-c", config)

    assert shown.code == 1
    assert shown.err.startswith("Error: datadog ")
    assert shown.err.count("\n") == 1
    assert message in shown.err
    assert "dd-secret" not in shown.err + shown.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "has 0 exporters named 'nobody'; it has: jsonl, verdicts, prometheus"),
        (["jsonl", "--trace-id", TRACE_ID], "give both or neither"),
        (["jsonl", "--trace-id", "xyz", "--span-id", SPAN_ID], "--trace-id takes 32 hexadecimal digits"),
        (["jsonl", "--trace-id", TRACE_ID, "--span-id", "0" * 16], "--span-id takes 16 hexadecimal digits"),
    ],
    ids=["name", "half", "trace", "zero"],
)
def test_arguments_that_cannot_work_are_named(
    adhere: CommandLine, tmp_path: Path, arguments: list[str], message: str
) -> None:
    config = write_config(tmp_path, exporters=["jsonl", {"jsonl": {"name": "verdicts", "path": "b"}}, "prometheus"])

    shown = adhere("exporters", "test", *arguments, "-c", config)

    assert shown.code == 2
    assert message in shown.err


def test_files_get_the_score_and_totals_are_no_score(adhere: CommandLine, tmp_path: Path) -> None:
    config = write_config(tmp_path, exporters=["jsonl", "prometheus"])

    file = adhere("exporters", "test", "jsonl", "-c", config)
    totals = adhere("exporters", "test", "prometheus", "-c", config)
    listed = adhere("exporters", "list", "-c", config)

    [line] = (tmp_path / "data" / "verdicts.jsonl").read_text().splitlines()
    assert file.code == totals.code == 0
    assert json.loads(line)["evaluator"] == "adhere_test"
    assert "no single score to try" in totals.out
    assert listed.out == "jsonl\nprometheus\n"
