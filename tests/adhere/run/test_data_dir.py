from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from adhere.errors import UsageError
from adhere.run.data_dir import Addresses, DataDir


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    found = DataDir(tmp_path / "state" / "adhere")
    found.create()
    return found


def test_the_folder_is_for_its_owner_only(data: DataDir) -> None:
    data.create()

    assert stat.S_IMODE(data.path.stat().st_mode) == 0o700


def test_a_file_in_its_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").touch()

    with pytest.raises(UsageError, match="state/adhere cannot be made: Not a directory; set data_dir"):
        DataDir(tmp_path / "state" / "adhere").create()


def test_the_sender_id_is_one_a_folder(data: DataDir, tmp_path: Path) -> None:
    other = DataDir(tmp_path / "other")
    other.create()

    assert data.sender_id() == data.sender_id() == DataDir(data.path).sender_id()
    assert data.sender_id() != other.sender_id()
    assert [path.name for path in data.path.iterdir()] == ["sender.id"]


def test_a_copied_folder_is_another_sender(data: DataDir, tmp_path: Path) -> None:
    """Two Adheres from one image, of which one sends to the other, are no loop."""
    own = data.sender_id()

    copied = DataDir(Path(shutil.copytree(data.path, tmp_path / "copy")))

    assert copied.sender_id() != own
    assert data.sender_id() == own


@pytest.mark.parametrize("left", [b"", b"0123", b"\xff" * 16])
def test_a_sender_id_that_a_power_loss_spoiled_is_made_anew(data: DataDir, left: bytes) -> None:
    (data.path / "sender.id").write_bytes(left)

    assert data.sender_id() == data.sender_id()


def test_without_a_place_for_it_the_sender_id_is_the_process_s_own(tmp_path: Path) -> None:
    gone = DataDir(tmp_path / "gone")

    assert len(gone.sender_id()) == 16


def test_addresses_are_read_as_they_were_written(data: DataDir) -> None:
    addresses = Addresses(grpc="127.0.0.1:1", http="127.0.0.1:2", telemetry="127.0.0.1:3")

    data.write_addresses(addresses)

    assert data.read_addresses() == addresses


@pytest.mark.parametrize("text", ["", "{", "[]", '{"unknown": 1}', "\x00\xff"])
def test_addresses_that_cannot_be_read_are_none(data: DataDir, text: str) -> None:
    (data.path / "addresses.json").write_bytes(text.encode("latin-1"))

    assert data.read_addresses() is None


def test_addresses_are_gone_after_they_were_cleared(data: DataDir) -> None:
    data.write_addresses(Addresses(http="127.0.0.1:2"))

    data.clear_addresses()
    data.clear_addresses()

    assert data.read_addresses() is None


def test_the_port_of_the_evaluator_is_read_as_it_was_written(data: DataDir) -> None:
    assert data.read_evaluator_port() is None

    data.write_evaluator_port(4711)

    assert data.read_evaluator_port() == 4711
    data.clear_evaluator_port()
    data.clear_evaluator_port()
    assert data.read_evaluator_port() is None


def test_no_temporary_file_stays(data: DataDir) -> None:
    data.write_addresses(Addresses())
    data.write_evaluator_port(1)
    data.fence_secret()

    assert sorted(path.name for path in data.path.iterdir()) == ["addresses.json", "evaluator.port", "fence.key"]


def test_the_secret_of_the_fence_stays_the_same_and_is_for_its_owner_only(data: DataDir) -> None:
    secret = data.fence_secret()

    assert len(secret) == 32
    assert DataDir(data.path).fence_secret() == secret
    assert stat.S_IMODE((data.path / "fence.key").stat().st_mode) == 0o600


@pytest.mark.parametrize("left", [b"", b"short"], ids=["empty", "cut"])
def test_a_secret_that_was_cut_is_made_anew(data: DataDir, left: bytes) -> None:
    (data.path / "fence.key").write_bytes(left)

    secret = data.fence_secret()

    assert len(secret) == 32
    assert data.fence_secret() == secret


def test_two_installations_have_two_secrets(tmp_path: Path) -> None:
    folders = [DataDir(tmp_path / name) for name in ("a", "b")]
    for folder in folders:
        folder.create()

    assert folders[0].fence_secret() != folders[1].fence_secret()
