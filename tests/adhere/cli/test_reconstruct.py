from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.recordings import PIRATE, RECORDINGS, REFUND


def test_each_file_gives_one_json_line_in_the_order_given(adhere: CommandLine) -> None:
    files = [PIRATE, REFUND]

    shown = adhere("reconstruct", "--format", "jsonl", *files)

    lines = [json.loads(line) for line in shown.out.splitlines()]
    assert shown.code == 0
    assert [line["input"] for line in lines] == [str(file) for file in files]
    assert [len(line["conversations"]) for line in lines] == [1, 1]
    (refund,) = lines[1]["conversations"]
    assert refund["turns"][0]["user_input"].startswith("My copy of The Glass Atlas")


def test_text_shows_turns_calls_and_answers(adhere: CommandLine) -> None:
    shown = adhere("reconstruct", REFUND)

    assert shown.code == 0
    assert 'issue_refund({"order_id":"B-2040","amount":24.9})' in shown.out
    assert "  turn 2 · " in shown.out


def test_files_stand_by_themselves(adhere: CommandLine) -> None:
    together = adhere("reconstruct", "-f", "jsonl", *RECORDINGS.values()).out

    alone = [adhere("reconstruct", "-f", "jsonl", file).out for file in RECORDINGS.values()]

    assert together == "".join(alone)


def test_a_file_without_conversations_says_so(adhere: CommandLine, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text('\n{"resourceSpans": []}\n')

    assert f"No conversation is in {empty}." in adhere("reconstruct", empty).out


def test_a_missing_file_is_named_before_any_work(adhere: CommandLine, tmp_path: Path) -> None:
    shown = adhere("reconstruct", REFUND, tmp_path / "none.jsonl")

    assert shown.code == 2
    assert shown.err == f"Error: The file {tmp_path / 'none.jsonl'} does not exist; give OTLP JSON lines.\n"
    assert shown.out == ""


def test_a_folder_is_named_with_the_way_out(adhere: CommandLine, tmp_path: Path) -> None:
    shown = adhere("reconstruct", tmp_path)

    assert shown.code == 2
    assert f"{tmp_path} is a folder; name the files in it, such as {tmp_path}/*.jsonl." in shown.err


BROKEN = {
    "cut": '{"resourceSpans": [{"scopeSp',
    "no request": '{"a": 1}',
    "no object": "[1, 2]",
    "not text": "\udcff\udcfe",
    "wrong type": '{"resourceSpans": 3}',
}


@pytest.mark.parametrize("line", BROKEN.values(), ids=BROKEN)
def test_a_broken_line_is_named_with_its_file(adhere: CommandLine, tmp_path: Path, line: str) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_bytes(b'{"resourceSpans": []}\n' + os.fsencode(line) + b"\n")

    shown = adhere("reconstruct", file)

    assert shown.code == 2
    assert shown.err.startswith(f"Error: Line 2 of {file} ")
    assert len(shown.err.splitlines()) == 1


def test_an_unknown_format_is_refused(adhere: CommandLine) -> None:
    shown = adhere("reconstruct", "--format", "xml", REFUND)

    assert shown.code == 2
    assert "xml" in shown.err
