"""The JSON schema of the configuration, for editors and for the reference page."""

from __future__ import annotations

from typing import Any

from adhere.config.model import Config


def config_schema() -> dict[str, Any]:
    schema = Config.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Adhere configuration"
    data_dir = schema["properties"]["data_dir"]
    data_dir["description"] += " Default: $XDG_STATE_HOME/adhere, else ~/.local/state/adhere."
    return schema
