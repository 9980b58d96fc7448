"""Tests against the real servers of other projects, from PyPI: `ADHERE_INTEGRATION=1 uv run pytest tests/integration`.

They need a package registry once, and some minutes. Environments are kept in `~/.cache/adhere-integration`, or where
`ADHERE_INTEGRATION_CACHE` says.
"""
