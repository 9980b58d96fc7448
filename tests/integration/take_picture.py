"""One picture of a span's scores in a backend's own pages. Runs in an environment that has Playwright:

python take_picture.py CHROMIUM phoenix|mlflow ADDRESS TRACE_ID SPAN_ID FILE
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping

from playwright.sync_api import Page, sync_playwright

QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
"""Chromium looks for nothing outside, and starts as root as well."""
SIZE = {"width": 1440, "height": 810}
SETTLE_MS = 2000


def phoenix(page: Page, address: str, trace_id: str, span_id: str) -> None:
    del trace_id
    page.add_init_script("localStorage.setItem('arize-phoenix-theme', 'light')")
    page.goto(f"{address}/redirects/spans/{span_id}")
    page.get_by_role("button", name=re.compile("^Annotations")).first.click()
    page.get_by_role("button", name=re.compile("^Attributes")).first.click()
    page.get_by_text("Table", exact=True).first.click()
    page.get_by_text("explanation").first.wait_for()


def mlflow(page: Page, address: str, trace_id: str, span_id: str) -> None:
    del span_id
    page.goto(f"{address}/#/experiments/0/traces")
    # What it greets new users with lies over the page: a hint, and an assistant whose corner closes it.
    page.get_by_role("button", name="Got it").first.click()
    page.mouse.click(SIZE["width"] - 36, 36)
    page.get_by_role("button", name="Display").first.wait_for()
    page.goto(f"{address}/#/experiments/0/traces?selectedEvaluationId=tr-{trace_id}")
    page.get_by_role("button", name=re.compile("Assess")).first.click()
    closed = page.locator('[data-component-id="shared.model-trace-explorer.toggle-assessment-expanded"]')
    closed.first.wait_for()
    closed.last.click()
    closed.first.click()
    page.get_by_text("Rationale").nth(1).wait_for()


WAYS: Mapping[str, Callable[[Page, str, str, str], None]] = {"phoenix": phoenix, "mlflow": mlflow}


def main(chromium: str, backend: str, address: str, trace_id: str, span_id: str, file: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(QUIET))
        page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
        page.set_default_timeout(60_000)
        WAYS[backend](page, address, trace_id, span_id)
        page.wait_for_timeout(SETTLE_MS)
        page.screenshot(path=file)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
