"""Shell commands, checked against the real command line without running anything."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import typer
from typer._click.exceptions import MissingParameter, NoArgsIsHelpError

from adhere.cli.app import app

_SEPARATORS = re.compile(r"\s*(?:&&|\|\||;|\|)\s*")
_PREFIXES = (["uv", "run"], ["uv", "run", "--no-sync"], ["python", "-m"])


def adhere_commands(script: str) -> Iterator[list[str]]:
    """The arguments of each `adhere ...` in a script, also as the command of an image with that name."""
    for line in script.replace("\\\n", " ").splitlines():
        for part in _SEPARATORS.split(line):
            words = shlex.split(part, comments=True)
            for prefix in _PREFIXES:
                if words[: len(prefix)] == prefix:
                    words = words[len(prefix) :]
            if words[:2] == ["docker", "run"] and "adhere" in words:
                words = words[words.index("adhere") :]
            if words[:1] == ["adhere"]:
                yield words[1:]


def check(arguments: list[str], *, may_lack_arguments: bool = False) -> None:
    """Raises what the command line would answer to a command, option or argument that it does not know."""
    try:
        _parse(arguments)
    except (MissingParameter, NoArgsIsHelpError):
        if not may_lack_arguments:
            raise


def _parse(arguments: list[str]) -> None:
    command = typer.main.get_command(app)
    context = command.make_context("adhere", list(arguments), resilient_parsing=False)
    rest = [*context._protected_args, *context.args]
    while rest and hasattr(command, "resolve_command"):
        name, command, rest = command.resolve_command(context, rest)
        assert command is not None
        context = command.make_context(name, rest, parent=context)
        rest = [*getattr(context, "_protected_args", ()), *context.args] if hasattr(command, "resolve_command") else []
