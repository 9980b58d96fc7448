"""The folder of real captures beside the checkout, where there is one, and the tool that scores against it."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
THOROUGH = os.environ.get("ADHERE_THOROUGH") == "1"
"""Set by continuous integration: every capture, where a person's run takes a sample."""


def captures(*globs: str) -> list[Path]:
    """Folders of `<capture>/<scenario>` whose capture matches one of the globs; empty without the corpus."""
    found = {path.parent for glob in globs for path in (SHARED / "corpus").glob(f"{glob}/*/otlp.jsonl")}
    return sorted(path for path in found if (path / "expected.json").exists())


def params(*globs: str) -> list[Any]:
    """One test parameter a capture; without the corpus one that is skipped with the reason."""
    known = captures(*globs)
    if not known:
        reason = "The folder of real captures is not beside the checkout."
        return [pytest.param(None, id="no-corpus", marks=[pytest.mark.corpus, pytest.mark.skip(reason=reason)])]
    return [pytest.param(path, id=f"{path.parent.name}/{path.name}", marks=pytest.mark.corpus) for path in known]


def sampled(*globs: str, every: int) -> list[Any]:
    """Every so many captures; all of them in a thorough run."""
    return params(*globs)[:: 1 if THOROUGH else every]


def scorer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("score_reconstruction", SHARED / "tools" / "score_reconstruction.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
