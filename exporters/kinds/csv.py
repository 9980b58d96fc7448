"""`csv`: verdicts as rows for spreadsheets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from exporters.csv import CsvExporter
from exporters.exporter import Exporter
from exporters.inside import inside
from exporters.registry import ExporterContext, ExporterKind, ExporterOptions


class CsvOptions(ExporterOptions):
    path: Path = Path("verdicts.csv")
    """The file; a relative path is below the data folder and stays there."""
    content: bool = True
    """Write the explanation and the evidence, which may quote the conversation."""
    max_file_bytes: Annotated[int, Field(ge=1 << 20)] = 100 << 20
    """Size at which the file is moved aside and a new one begun (bytes)."""
    max_files: Annotated[int, Field(ge=1, le=1000)] = 10
    """Files kept, the current one included; the oldest goes."""


def _build(name: str, options: CsvOptions, context: ExporterContext) -> Sequence[Exporter]:
    return [
        CsvExporter(
            inside(options.path, context.data_dir, name=name),
            name=name,
            content=options.content,
            max_file_bytes=options.max_file_bytes,
            max_files=options.max_files,
        )
    ]


KIND: Final = ExporterKind(CsvOptions, _build)
