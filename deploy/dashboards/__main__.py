"""`python -m deploy.dashboards`: write the committed dashboards anew."""

from __future__ import annotations

from deploy.dashboards.files import FOLDER, files


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
