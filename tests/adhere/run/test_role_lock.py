from __future__ import annotations

import os
from pathlib import Path

import pytest

from adhere.errors import UsageError
from adhere.run.role_lock import RoleLock, check_free


def test_the_second_of_a_role_is_refused_with_the_process_that_holds_it(tmp_path: Path) -> None:
    with (
        RoleLock(tmp_path, "collector"),
        pytest.raises(UsageError, match=rf"process {os.getpid()}\) has its collector on the data folder"),
    ):
        RoleLock(tmp_path, "collector").acquire()


def test_roles_do_not_keep_each_other_out(tmp_path: Path) -> None:
    with RoleLock(tmp_path, "collector"), RoleLock(tmp_path, "evaluator"):
        pass


def test_a_released_role_is_free(tmp_path: Path) -> None:
    lock = RoleLock(tmp_path, "collector")
    lock.acquire()
    lock.release()
    lock.release()

    with RoleLock(tmp_path, "collector"):
        pass


def test_asking_whether_roles_are_free_takes_and_leaves_nothing(tmp_path: Path) -> None:
    check_free(tmp_path, "collector", "evaluator")
    assert list(tmp_path.iterdir()) == []

    with RoleLock(tmp_path, "evaluator"), pytest.raises(UsageError, match="evaluator"):
        check_free(tmp_path, "collector", "evaluator")

    check_free(tmp_path, "collector", "evaluator")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"collector\.lock cannot be opened: No such file"):
        RoleLock(tmp_path / "none", "collector").acquire()
