"""The table of dialects: each one in the registry, and what the docstring of its file says it reads."""

from __future__ import annotations

from collector.dialects.registry import LOG_DIALECTS, SPAN_DIALECTS
from docs.generate.markdown import code, sentence, table


def dialect_table() -> str:
    known = {dialect.NAME: dialect.__doc__ or "" for dialect in SPAN_DIALECTS}
    known |= {dialect.NAME: dialect.__doc__ or "" for dialect in LOG_DIALECTS}
    rows = [[code(name), sentence(known[name].partition("\n\n")[0])] for name in sorted(known)]
    return table(["dialect", "what it reads"], rows)
