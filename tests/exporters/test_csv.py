from __future__ import annotations

import csv
from pathlib import Path

import pytest

from evaluators.verdict import Outcome
from exporters.csv import COLUMNS, CsvExporter, safe_cell
from tests.support.verdicts import REFUND_FAILED, verdict


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


async def write(path: Path, *items: object, **options: object) -> None:
    exporter = CsvExporter(path, **options)  # type: ignore[arg-type]
    await exporter.export(items)  # type: ignore[arg-type]
    await exporter.close()


async def test_a_verdict_is_a_row(tmp_path: Path):
    failed = verdict("v2", outcome=Outcome.ERROR, score=None, label=None, error_type="judge_timeout")

    await write(tmp_path / "v.csv", REFUND_FAILED, failed)

    first, second = rows(tmp_path / "v.csv")
    assert list(first) == list(COLUMNS)
    assert (first["id"], first["score"], first["outcome"]) == (REFUND_FAILED.id, "0.25", "fail")
    assert first["reason"] == REFUND_FAILED.reason
    assert (second["score"], second["label"], second["error_type"]) == ("", "", "judge_timeout")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1+1", "'=1+1"),
        ("\r\n=1+1", "'=1+1"),
        ("\u200e=1+1", "'=1+1"),
        ("  =cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("|x", "'|x"),
        ("fine = yes", "fine = yes"),
        (-0.5, -0.5),
        ("a\nb", "a b"),
    ],
)
def test_text_is_no_formula(value: str | float, expected: str | float):
    assert safe_cell(value) == expected


async def test_rows_are_lines_whatever_stands_in_them(tmp_path: Path):
    odd = verdict("v1", reason='a "quoted"\n,line\u2028 \x00\x1b[31m', agent_name="=cmd|'x'!A0")

    await write(tmp_path / "v.csv", odd, odd)

    assert (tmp_path / "v.csv").read_bytes().count(b"\n") == 3
    found = rows(tmp_path / "v.csv")
    assert found[0]["reason"] == 'a "quoted" ,line [31m'
    assert found[0]["agent_name"] == "'=cmd|'x'!A0"


async def test_content_is_left_out_where_it_is_off(tmp_path: Path):
    await write(tmp_path / "v.csv", REFUND_FAILED, content=False)

    assert "refund was issued" not in (tmp_path / "v.csv").read_text()
    assert {"reason", "evidence"} & set(rows(tmp_path / "v.csv")[0]) == set()


@pytest.mark.parametrize("cut", [1, 5, 40, 300])
async def test_a_torn_row_is_removed(tmp_path: Path, cut: int):
    path = tmp_path / "v.csv"
    await write(path, verdict("v1"), verdict("v2"))
    path.write_bytes(path.read_bytes()[:-cut])

    await write(path, verdict("v3"))

    assert [row["id"] for row in rows(path)] == ["v1", "v3"]


async def test_a_torn_header_is_removed(tmp_path: Path):
    path = tmp_path / "v.csv"
    path.write_bytes(b'\xef\xbb\xbf"schema","id","ju')

    await write(path, verdict("v1"))

    assert [row["id"] for row in rows(path)] == ["v1"]


async def test_each_file_has_its_header(tmp_path: Path):
    path = tmp_path / "v.csv"
    exporter = CsvExporter(path, max_file_bytes=1, max_files=2)

    for number in range(3):
        await exporter.export([verdict(f"v{number}")])
    await exporter.close()

    assert [row["id"] for row in rows(path)] == ["v2"]
    assert [row["id"] for row in rows(tmp_path / "v.1.csv")] == ["v1"]
    assert not (tmp_path / "v.2.csv").exists()
