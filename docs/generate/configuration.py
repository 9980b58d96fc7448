"""The tables of `docs/configuration.md`: the configuration's options, and those of each kind of exporter."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module

from adhere.config import config_schema
from docs.generate.markdown import code, sentence
from docs.generate.options import Option, option_table, options_of
from exporters import kinds

_GROUPS = {
    "": ("Top level", "Options that stand by themselves."),
    "receivers": ("Receivers", "What comes in. Addresses are `host:port`; port 0 takes a free one."),
    "journal": ("Journal", "The requests on disk between receiving and everything else."),
    "relay": ("Relay", "A list of OTLP endpoints; each gets what was received, in its own time."),
    "conversations": (
        "Conversations",
        "When a unit is ready to be judged, and how much is kept. Waits follow each agent's own pauses within bounds.",
    ),
    "judge": ("Judge", "The model that the model evaluators ask."),
    "evaluators": ("Evaluators", "A list of names with options; each evaluator's own options are further below."),
    "exporters": ("Exporters", "A list of names with options; each exporter's own options are further below."),
    "telemetry": ("Telemetry", "Adhere's own: `/metrics`, `/healthz`, `/readyz`, and its log on standard error."),
}


def configuration_options() -> str:
    found: dict[str, list[Option]] = {group: [] for group in _GROUPS}
    for option in options_of(config_schema()):
        group = re.split(r"[.\[]", option.path)[0]
        found[group if group in found else ""].append(option)
    parts = []
    for group, options in found.items():
        title, text = _GROUPS[group]
        parts.append(f"### {title}\n\n{text}\n\n{option_table(options)}")
    return "\n\n".join(parts)


def exporter_options() -> str:
    parts = []
    for found in pkgutil.iter_modules(kinds.__path__):
        module = import_module(f"{kinds.__name__}.{found.name}")
        text = (module.__doc__ or "").partition(": ")[2].strip()
        options = options_of(module.KIND.options.model_json_schema())
        parts.append(f"### {code(found.name)}\n\n{sentence(text)}\n\n{option_table(options)}")
    return "\n\n".join(parts)
