"""Tests against the real servers and tools of other projects: `ADHERE_INTEGRATION=1 uv run pytest tests/integration`.

They need package registries once, and some minutes. What they fetch is kept in `~/.cache/adhere-integration`, or where
`ADHERE_INTEGRATION_CACHE` says. Servers listen on loopback. Tests of a tool that cannot be had are skipped with the
reason.
"""
