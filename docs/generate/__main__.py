"""`python -m docs.generate`: write the generated parts of every document anew."""

from __future__ import annotations

import sys

from docs.generate.pages import DOCS, PARTS, rendered


def main() -> None:
    for path in sorted(DOCS.glob("*.md")):
        before = path.read_text(encoding="utf-8")
        after = rendered(before, PARTS)
        if after != before:
            path.write_text(after, encoding="utf-8")
            sys.stdout.write(f"{path.name} is new\n")


if __name__ == "__main__":
    main()
