"""What holds for every test."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Tests start many processes. Where the environment says that no bytecode is to be written beside the code, each of them
# would compile everything anew, which takes longer than what most of them are started for.
if sys.dont_write_bytecode and sys.pycache_prefix is None:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

# The same examples in every run; ADHERE_EXPLORE=1 looks for new ones.
settings.register_profile("fixed", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile("explore" if os.environ.get("ADHERE_EXPLORE") == "1" else "fixed")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that may take longest begin first, so that no worker is left with one of them when the others are done."""
    items.sort(key=_patience_s, reverse=True)


def _patience_s(item: pytest.Item) -> float:
    mark = item.get_closest_marker("timeout")
    return float(mark.args[0]) if mark is not None else 0.0


def pytest_make_parametrize_id(val: object) -> str | None:
    """Ids that are the same in every process, so that workers agree on what there is to run."""
    if isinstance(val, bytes):
        return f"{len(val)}-bytes"
    if callable(val):
        return getattr(val, "__name__", None)
    return None
