"""The alerts of `deploy/prometheus`: what each says, and its query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from docs.generate.markdown import code

RULES = Path(__file__).resolve().parents[2] / "deploy" / "prometheus"


def alert_list() -> str:
    groups = yaml.safe_load((RULES / "alerts.rules.yaml").read_text(encoding="utf-8"))["groups"]
    return "\n\n".join(_alert(rule) for group in groups for rule in group["rules"])


def _alert(rule: dict[str, Any]) -> str:
    lasting = f", after {rule['for']}" if "for" in rule else ""
    head = f"**{rule['alert']}** ({code(rule['labels']['severity'])}{lasting}). {rule['annotations']['description']}"
    return f"{head}\n\n```promql\n{rule['expr'].strip()}\n```"
