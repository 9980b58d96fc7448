"""Files that hold what our wire formats look like: a change of them is reviewed like code.

`ADHERE_UPDATE_GOLDEN=1 uv run pytest <the tests>` writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path

_FOLDER = Path(__file__).parent.parent / "golden"


def assert_golden(name: str, text: str) -> None:
    """The text equals `tests/golden/<name>`."""
    path = _FOLDER / name
    if os.environ.get("ADHERE_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
