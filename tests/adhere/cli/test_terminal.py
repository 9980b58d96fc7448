"""What comes out, whoever reads it: a pipe that closes, a terminal that obeys escapes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.recordings import RECORDINGS

HOSTILE = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202egnp.exe"
OBEYED = {"\x1b", "\x07", "\x9b", "\u202e"}


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A recording in which a user and an agent say what a terminal would obey, and a tool is named like it."""

    def text(role: str, content: str) -> dict[str, object]:
        return {"role": role, "parts": [{"type": "text", "content": content}]}

    call = {"type": "tool_call", "id": "c", "name": f"drop{HOSTILE}", "arguments": {"x": HOSTILE}}
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": f"id{HOSTILE}",
        "gen_ai.agent.name": HOSTILE,
        "gen_ai.input.messages": json.dumps([text("user", HOSTILE)]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [call]}]),
    }
    span = {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": "b7ad6b7169203331",
        "name": f"chat{HOSTILE}",
        "startTimeUnixNano": "1790000000000000000",
        "endTimeUnixNano": "1790000001000000000",
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": HOSTILE}}]}
    request = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "x"}, "spans": [span]}]}]}
    file = tmp_path / "hostile.jsonl"
    file.write_text(json.dumps(request) + "\n")
    return file


def test_reconstructed_text_is_harmless(adhere: CommandLine, hostile: Path) -> None:
    shown = adhere("reconstruct", hostile)

    assert "owned" in shown.out
    assert not OBEYED & set(shown.out)


def test_reconstructed_json_is_harmless_and_whole(adhere: CommandLine, hostile: Path) -> None:
    shown = adhere("reconstruct", "--format", "jsonl", hostile)

    (conversation,) = json.loads(shown.out)["conversations"]
    assert conversation["turns"][0]["user_input"] == HOSTILE
    assert "\x1b" not in shown.out


def test_a_judged_failure_is_harmless(adhere: CommandLine, hostile: Path, tmp_path: Path) -> None:
    config = tmp_path / "adhere.yaml"
    config.write_text("evaluators: [rules: {rules: [{never: 'drop*'}]}]")

    shown = adhere("evaluate", "--config", config, hostile, "--output", tmp_path / "out.jsonl")

    assert "rules · fail" in shown.out
    assert not OBEYED & set(shown.out + (tmp_path / "out.jsonl").read_text())


def test_a_name_of_a_file_is_harmless(adhere: CommandLine) -> None:
    shown = adhere("reconstruct", f"none{HOSTILE}")

    assert shown.code == 2
    assert not OBEYED & set(shown.err)


@pytest.mark.parametrize("form", ["jsonl", "text"])
def test_a_reader_that_goes_away_is_no_fault(form: str) -> None:
    """As with `| head`: more comes than the pipe holds, and the reader takes the first bytes only."""
    files = [str(file) for file in RECORDINGS.values()] * 30
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "adhere", "reconstruct", "--format", form, *files],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert len(process.stdout.read(10)) == 10

        process.stdout.close()

        assert process.stderr.read() == b""
        assert process.wait() == 1
