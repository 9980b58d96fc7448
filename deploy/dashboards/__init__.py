"""Grafana's dashboards, written as Python and committed as JSON: `uv run poe dashboards`.

A test fails when a committed file differs from what this gives, or a query names a metric or label that Adhere does
not have.
"""
