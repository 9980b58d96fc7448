from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
from pathlib import Path
from typing import Any

import pytest

from collector.errors import RetryableError
from exporters.errors import ExporterConfigError
from exporters.jsonl import JsonlExporter
from exporters.verdict_line import verdict_line
from tests.support.verdicts import REFUND_FAILED, verdict


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def put_there(path: Path, content: bytes) -> None:
    path.write_bytes(content)


async def export(exporter: JsonlExporter, *ids: str, **changes: Any) -> None:
    await exporter.export([verdict(name, **changes) for name in ids])


async def test_each_verdict_is_a_line_with_all_its_fields(tmp_path: Path):
    exporter = JsonlExporter(tmp_path / "scores" / "verdicts.jsonl")

    await export(exporter, "v1", "v2")
    await exporter.close()

    lines = read(tmp_path / "scores" / "verdicts.jsonl")
    assert [line["id"] for line in lines] == ["v1", "v2"]
    assert lines[0]["schema"] == "adhere.verdict/1"
    assert (lines[0]["outcome"], lines[0]["score"], lines[0]["trace_id"]) == ("fail", 0.25, REFUND_FAILED.trace_id)
    assert lines[0]["evidence"][0]["quote"] == REFUND_FAILED.evidence[0].quote


async def test_only_the_owner_can_read(tmp_path: Path):
    exporter = JsonlExporter(tmp_path / "scores" / "verdicts.jsonl")

    await export(exporter, "v1")
    await exporter.close()

    modes = [
        (tmp_path / "scores").stat().st_mode & 0o777,
        (tmp_path / "scores" / "verdicts.jsonl").stat().st_mode & 0o777,
    ]
    assert modes == [0o700, 0o600]


async def test_a_second_run_appends(tmp_path: Path):
    for name in ("v1", "v2"):
        exporter = JsonlExporter(tmp_path / "v.jsonl")
        await export(exporter, name)
        await exporter.close()

    assert [line["id"] for line in read(tmp_path / "v.jsonl")] == ["v1", "v2"]


@pytest.mark.parametrize("cut", [1, 5, 60, -1], ids=str)
async def test_a_torn_last_line_is_removed_at_the_next_start(tmp_path: Path, cut: int):
    whole = verdict_line(verdict("v1"))
    put_there(tmp_path / "v.jsonl", whole + whole[:-1][:cut])
    exporter = JsonlExporter(tmp_path / "v.jsonl")

    await export(exporter, "v2")
    await exporter.close()

    assert [line["id"] for line in read(tmp_path / "v.jsonl")] == ["v1", "v2"]


async def test_a_long_torn_line_is_removed_whole(tmp_path: Path):
    torn = verdict_line(verdict("v2", reason="x" * 90_000, details={"a": "y" * 90_000}))[:-10]
    put_there(tmp_path / "v.jsonl", verdict_line(verdict("v1")) + torn)
    exporter = JsonlExporter(tmp_path / "v.jsonl")

    await export(exporter, "v3")
    await exporter.close()

    assert [line["id"] for line in read(tmp_path / "v.jsonl")] == ["v1", "v3"]


async def test_a_whole_last_line_without_its_break_is_kept(tmp_path: Path):
    put_there(tmp_path / "v.jsonl", verdict_line(verdict("v1"))[:-1])
    exporter = JsonlExporter(tmp_path / "v.jsonl")

    await export(exporter, "v2")
    await exporter.close()

    assert [line["id"] for line in read(tmp_path / "v.jsonl")] == ["v1", "v2"]


async def test_what_is_not_ours_is_never_removed(tmp_path: Path):
    put_there(tmp_path / "v.jsonl", b"somebody's notes")
    exporter = JsonlExporter(tmp_path / "v.jsonl")

    await export(exporter, "v1")
    await exporter.close()

    notes, line = (tmp_path / "v.jsonl").read_bytes().splitlines()
    assert notes == b"somebody's notes"
    assert json.loads(line)["id"] == "v1"


async def test_files_rotate_at_the_bound_and_the_oldest_goes(tmp_path: Path):
    size = len(verdict_line(verdict("v0")))
    exporter = JsonlExporter(tmp_path / "v.jsonl", max_file_bytes=2 * size, max_files=3)

    for number in range(9):
        await export(exporter, f"v{number}")
    await exporter.close()

    assert names_in(tmp_path) == ["v.1.jsonl", "v.2.jsonl", "v.jsonl"]
    kept = [[line["id"] for line in read(tmp_path / name)] for name in ("v.2.jsonl", "v.1.jsonl", "v.jsonl")]
    assert kept == [["v4", "v5"], ["v6", "v7"], ["v8"]]


async def test_text_cannot_break_the_line_or_the_terminal(tmp_path: Path):
    exporter = JsonlExporter(tmp_path / "v.jsonl")

    await export(exporter, "v1", reason="a\nb\u2028c\x1b[31m\x9b\ud800 好", details={"k\x1b": ["\u202e", 2**70]})
    await exporter.close()

    raw = (tmp_path / "v.jsonl").read_text(encoding="utf-8")
    assert len(raw.splitlines()) == 1
    assert not set(raw) & set("\x1b\x9b\u202e\u2028")
    assert "\\u001b" not in raw
    assert json.loads(raw)["reason"].startswith("a\nb\nc[31m")
    assert "好" in raw


async def test_a_link_is_not_followed(tmp_path: Path):
    (tmp_path / "elsewhere").write_text("untouched")
    (tmp_path / "v.jsonl").symlink_to(tmp_path / "elsewhere")
    exporter = JsonlExporter(tmp_path / "v.jsonl")

    with pytest.raises(RetryableError, match=r"v\.jsonl"):
        await export(exporter, "v1")

    assert (tmp_path / "elsewhere").read_text() == "untouched"


@pytest.mark.parametrize("kind", ["folder", "pipe"])
async def test_only_a_regular_file_will_do(tmp_path: Path, kind: str):
    path = tmp_path / "v.jsonl"
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    exporter = JsonlExporter(path)

    with pytest.raises(RetryableError):
        await export(exporter, "v1")


async def test_a_write_that_fails_half_way_is_undone(tmp_path: Path):
    exporter = JsonlExporter(tmp_path / "v.jsonl")
    await export(exporter, "v1")
    size = (tmp_path / "v.jsonl").stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, before[1]))

    try:
        with pytest.raises(RetryableError):
            await export(exporter, "v2")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    await export(exporter, "v3")
    await exporter.close()

    assert [line["id"] for line in read(tmp_path / "v.jsonl")] == ["v1", "v3"]


async def test_parallel_exports_do_not_mix_lines(tmp_path: Path):
    exporter = JsonlExporter(tmp_path / "v.jsonl")

    await asyncio.gather(*(export(exporter, f"v{number}", reason="x" * 5000) for number in range(20)))
    await exporter.close()

    assert {line["id"] for line in read(tmp_path / "v.jsonl")} == {f"v{number}" for number in range(20)}


def test_a_path_without_a_file_name_is_refused():
    with pytest.raises(ExporterConfigError, match="'jsonl'"):
        JsonlExporter(Path())
