"""`python -m docs.generate`: write the generated parts of every document anew."""

from __future__ import annotations

import sys

from docs.generate.instrumentations import captures
from docs.generate.pages import CORPUS_PARTS, DOCS, PARTS, rendered


def main() -> None:
    parts = {**PARTS, **(CORPUS_PARTS if captures() else {})}
    for path in sorted(DOCS.glob("*.md")):
        before = path.read_text(encoding="utf-8")
        after = rendered(before, parts)
        if after != before:
            path.write_text(after, encoding="utf-8")
            sys.stdout.write(f"{path.name} is new\n")


if __name__ == "__main__":
    main()
