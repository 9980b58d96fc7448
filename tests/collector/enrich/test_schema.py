from __future__ import annotations

from pathlib import Path

import pytest

from collector.enrich.schema import HoldVersionError, open_file


def test_a_file_of_a_newer_release_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "tempo.db"
    newer = open_file(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    before = path.read_bytes()

    with pytest.raises(HoldVersionError, match=r"held spans .*/tempo\.db has version 99 .*; run the newer Adhere"):
        open_file(path)

    assert path.read_bytes() == before
