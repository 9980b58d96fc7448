"""A package as an installer leaves it: modules and entry points in a folder for PYTHONPATH."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path


def install(folder: Path, *, pyproject: str, modules: Mapping[str, str]) -> None:
    """`modules` are texts by their path in the folder."""
    project = tomllib.loads(pyproject)["project"]
    for name, text in modules.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {target}" for name, target in points.items())])
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n\n".join(groups))
