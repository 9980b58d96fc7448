"""Writes the generated parts of the documents from the code: `uv run poe docs`.

A part stands in a document between `<!-- generated: NAME -->` and `<!-- end -->`. Everything else on a page is written
by people. A test fails when a committed page differs from what this gives.
"""
