"""The recordings that come with the demo, by scenario."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import adhere.demo

FOLDER = Path(adhere.demo.__file__).with_name("recordings")
RECORDINGS: Mapping[str, Path] = {path.name.partition(".")[0]: path for path in sorted(FOLDER.glob("*.jsonl"))}
REFUND = RECORDINGS["refund_violation"]
PIRATE = RECORDINGS["pirate_persona"]
