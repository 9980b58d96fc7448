"""`jsonl`: verdicts as JSON lines in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from exporters.exporter import Exporter
from exporters.inside import inside
from exporters.jsonl import JsonlExporter
from exporters.registry import ExporterContext, ExporterKind, ExporterOptions


class JsonlOptions(ExporterOptions):
    path: Path = Path("verdicts.jsonl")
    """The file; a relative path is below the data folder and stays there."""
    max_file_bytes: Annotated[int, Field(ge=1 << 20)] = 100 << 20
    """Size at which the file is moved aside and a new one begun (bytes)."""
    max_files: Annotated[int, Field(ge=1, le=1000)] = 10
    """Files kept, the current one included; the oldest goes."""


def _build(name: str, options: JsonlOptions, context: ExporterContext) -> Sequence[Exporter]:
    return [
        JsonlExporter(
            inside(options.path, context.data_dir, name=name),
            name=name,
            max_file_bytes=options.max_file_bytes,
            max_files=options.max_files,
        )
    ]


KIND: Final = ExporterKind(JsonlOptions, _build)
