"""`${env:NAME}` in any string of the configuration, with `${env:NAME:-default}`; `$$` is a plain `$`.

A variable that is not set and has no default is a problem, never an empty string: an empty token would be worse than
none. The OpenTelemetry Collector's configuration has the same form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_REFERENCE = re.compile(
    r"\$\$|\$\{env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}|\$\{(?P<other>[^}]*)\}"
)


def expand(value: object, environ: Mapping[str, str], *, problems: list[str], path: str = "") -> object:
    """The same tree with every reference replaced; what cannot be replaced is added to `problems`."""
    if isinstance(value, Mapping):
        return {
            key: expand(item, environ, problems=problems, path=f"{path}.{key}" if path else str(key))
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [expand(item, environ, problems=problems, path=f"{path}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, str):
        return _expand_text(value, environ, problems=problems, path=path)
    return value


def _expand_text(text: str, environ: Mapping[str, str], *, problems: list[str], path: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match.group() == "$$":
            return "$"
        if (other := match["other"]) is not None:
            problems.append(f"{path}: ${{{other}}} is not a reference that is known; write ${{env:NAME}}.")
            return ""
        name, default = match["name"], match["default"]
        found = environ.get(name) or default
        if found is None:
            problems.append(
                f"{path}: the environment variable {name} is not set; set it, or write ${{env:{name}:-default}}."
            )
            return ""
        return found

    return _REFERENCE.sub(replace, text)
