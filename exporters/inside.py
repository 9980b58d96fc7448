"""Where an exporter's file may be: below the data folder, or where an absolute path says."""

from __future__ import annotations

from pathlib import Path

from exporters.errors import ExporterConfigError


def inside(path: Path, folder: Path, *, name: str) -> Path:
    """An absolute path is taken at its word; a relative one must not lead out of the folder, links included."""
    if path.is_absolute():
        return path
    parent = (folder / path).parent.resolve()
    if not parent.is_relative_to(folder.resolve()):
        raise ExporterConfigError(
            f"The exporter {name!r} has the path {str(path)!r}, which leads out of the data folder; "
            "write an absolute path if that is meant."
        )
    return parent / path.name
