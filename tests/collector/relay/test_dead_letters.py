import stat

import pytest

from collector.relay.dead_letters import DeadLetters
from collector.telemetry.records import Signal


def keep(letters, body, *, received_ns=1):
    return letters.keep(Signal.TRACES, body, reason="refused", received_ns=received_ns)


def contents(folder):
    return [path.read_bytes() for path in sorted(folder.iterdir())]


def test_a_letter_is_the_request_readable_by_the_owner_only(tmp_path):
    folder = tmp_path / "a" / "b"

    lost = keep(DeadLetters(folder), b"request", received_ns=17)

    (path,) = folder.iterdir()
    assert lost == 0
    assert path.name == "000000000000-17-traces-refused.otlp"
    assert path.read_bytes() == b"request"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_oldest_go_first_and_are_counted(tmp_path):
    letters = DeadLetters(tmp_path, max_bytes=10)

    lost = [keep(letters, body) for body in (b"1111", b"2222", b"3333", b"44444444")]

    assert lost == [0, 0, 1, 2]
    assert contents(tmp_path) == [b"44444444"]


def test_one_over_the_bound_is_lost_and_the_rest_stays(tmp_path):
    letters = DeadLetters(tmp_path, max_bytes=10)
    keep(letters, b"kept")

    assert keep(letters, b"x" * 11) == 1
    assert contents(tmp_path) == [b"kept"]


def test_after_a_restart_old_letters_count_and_go_first_even_if_the_clock_went_back(tmp_path):
    keep(DeadLetters(tmp_path, max_bytes=10), b"oldest", received_ns=900)
    (tmp_path / "note.txt").write_text("somebody's own file, not ours to delete")
    letters = DeadLetters(tmp_path, max_bytes=10)

    lost = [keep(letters, b"newer", received_ns=5), keep(letters, b"newest", received_ns=3)]

    assert lost == [1, 1]
    assert contents(tmp_path)[0] == b"newest"
    assert (tmp_path / "note.txt").exists()


def test_a_folder_that_cannot_be_written_is_an_os_error(tmp_path):
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(OSError, match="file"):
        keep(DeadLetters(tmp_path / "file"), b"request")
