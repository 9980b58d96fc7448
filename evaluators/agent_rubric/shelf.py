"""The rubrics of agents' versions, one YAML file each: what was compiled, and what people made of it, which wins.

    compiled/KEY.yaml     by the judge, once a version
    edited/KEY.yaml       by people, for this version
    edited/AGENT.yaml     by people, for every version of the agent that has none of its own

Files are replaced whole. Prompts are quoted in them, so that nobody else may read them. The number of compiled ones is
bounded; the oldest go.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import structlog

from evaluators.agent_rubric.agent_version import AgentVersion
from evaluators.content import digest_of
from evaluators.errors import EvaluatorConfigError
from evaluators.options import shown
from evaluators.rubric.file import read_rubric_file
from evaluators.rubric.model import Rubric
from evaluators.rubric.reading import read_rubric
from evaluators.rubric.writing import written
from evaluators.strict_yaml import write_yaml

log = structlog.get_logger(__name__)

_MAX_FILES = 1000
_ABOUT = ("service", "agent", "version", "compiled_by", "compiled_at", "injection_suspected")


@dataclass(frozen=True, slots=True)
class Shelved:
    """A rubric with what is known of it."""

    key: str
    rubric: Rubric
    about: Mapping[str, object]
    """`service`, `agent`, `version`, `compiled_by`, `compiled_at`, `injection_suspected`, as far as known."""
    is_edited: bool = False

    @property
    def agent(self) -> str:
        return str(self.about.get("agent") or self.about.get("service") or "(no name)")


class Shelf(Protocol):
    """What the evaluator needs of the place where rubrics are."""

    def find(self, version: AgentVersion) -> Shelved | None: ...

    def count(self, version: AgentVersion) -> int: ...

    def keep(self, version: AgentVersion, rubric: Rubric, *, about: Mapping[str, object]) -> Shelved: ...

    @property
    def edits_version(self) -> str: ...


class MemoryShelf:
    """For code of one's own, which has no data folder."""

    edits_version = ""

    def __init__(self) -> None:
        self._kept: dict[str, Shelved] = {}

    def find(self, version: AgentVersion) -> Shelved | None:
        return self._kept.get(version.key)

    def count(self, version: AgentVersion) -> int:
        return sum(_is_of(shelved, version) for shelved in self._kept.values())

    def keep(self, version: AgentVersion, rubric: Rubric, *, about: Mapping[str, object]) -> Shelved:
        while len(self._kept) >= _MAX_FILES:
            del self._kept[next(iter(self._kept))]
        shelved = self._kept[version.key] = _shelved(version, rubric, about)
        return shelved


class RubricShelf:
    """Any number of processes may read; files are small, and read again only when they changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._compiled = folder / "compiled"
        self._edited = folder / "edited"
        self._read: dict[Path, tuple[tuple[int, int], Shelved]] = {}
        self._edits: tuple[object, str] = (None, "")
        self._unsaved = MemoryShelf()
        """What the disk did not take."""

    def find(self, version: AgentVersion) -> Shelved | None:
        """What people wrote for the version, else for the agent, else what was compiled. Raises `EvaluatorConfigError`
        for a file that cannot be read as a rubric: what people wrote is never passed over in silence.
        """
        return (
            self._load(self._edited / f"{version.key}.yaml")
            or self._load(self._edited / f"{version.agent_key}.yaml")
            or self._load_compiled(self._compiled / f"{version.key}.yaml")
            or self._unsaved.find(version)
        )

    def get(self, key: str) -> Shelved | None:
        return self._load(self._edited / f"{key}.yaml") or self._load_compiled(self._compiled / f"{key}.yaml")

    def all(self) -> list[Shelved]:
        """By agent, newest first; the edited one in the place of the compiled one."""
        keys = dict.fromkeys(path.stem for folder in (self._edited, self._compiled) for path in _files(folder))
        found = [shelved for key in keys if (shelved := self.get(key)) is not None]
        newest = sorted(found, key=lambda shelved: str(shelved.about.get("compiled_at")), reverse=True)
        return sorted(newest, key=lambda shelved: shelved.agent)

    def count(self, version: AgentVersion) -> int:
        """Compiled rubrics of the same agent."""
        found = (self._load_compiled(path) for path in _files(self._compiled))
        return sum(shelved is not None and _is_of(shelved, version) for shelved in found)

    def keep(self, version: AgentVersion, rubric: Rubric, *, about: Mapping[str, object]) -> Shelved:
        """Where the disk does not take it, it is kept in memory, so that it is not paid for again."""
        shelved = _shelved(version, rubric, about)
        try:
            self._write(self._compiled / f"{version.key}.yaml", shelved)
            for path in sorted(_files(self._compiled), key=_changed_ns, reverse=True)[_MAX_FILES:]:
                path.unlink(missing_ok=True)
        except OSError as err:
            log.warning("rubric not saved", rubric=version.key, error=err.strerror)
            return self._unsaved.keep(version, rubric, about=about)
        return shelved

    def edit(self, key: str, rubric: Rubric, *, about: Mapping[str, object]) -> None:
        self._write(self._edited / f"{key}.yaml", Shelved(key, rubric, about, is_edited=True))

    def restore(self, key: str) -> bool:
        """Take away what people wrote; False where there was nothing."""
        found = [path for path in _files(self._edited) if path.stem == key]
        for path in found:
            path.unlink(missing_ok=True)
        return bool(found)

    @property
    def edits_version(self) -> str:
        """Changes whenever people change a rubric."""
        state = tuple(sorted((path.name, _changed_ns(path)) for path in _files(self._edited)))
        if state != self._edits[0]:
            self._edits = (state, digest_of([[path.name, _bytes(path).hex()] for path in _files(self._edited)])[:12])
        return self._edits[1] if state else ""

    def _load(self, path: Path) -> Shelved | None:
        try:
            stamp = _stamp(path)
        except OSError:
            self._read.pop(path, None)
            return None
        known = self._read.get(path)
        if known is None or known[0] != stamp:
            known = self._read[path] = (stamp, read_shelved(read_rubric_file(path), path, self._edited))
        return known[1]

    def _load_compiled(self, path: Path) -> Shelved | None:
        """A damaged file is as good as none: it is compiled again."""
        try:
            return self._load(path)
        except EvaluatorConfigError:
            return None

    def _write(self, path: Path, shelved: Shelved) -> None:
        for folder in (self.folder, path.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = {key: shelved.about[key] for key in _ABOUT if shelved.about.get(key) is not None}
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.touch(mode=0o600)
        temporary.write_text(write_yaml({**about, "rubric": written(shelved.rubric)}), encoding="utf-8")
        temporary.replace(path)


def read_shelved(value: object, path: Path, edited: Path) -> Shelved:
    """From the plain values of a file; raises `EvaluatorConfigError`."""
    if not isinstance(value, Mapping) or not isinstance(value.get("rubric"), Mapping):
        raise EvaluatorConfigError(f"{path} is {shown(value)} and must be a mapping with a `rubric`.")
    rubric = Rubric(name=None, criteria=())  # Where the prompt demands nothing.
    if value["rubric"].get("criteria"):
        problems: list[str] = []
        read = read_rubric(value["rubric"], place=f"{path}: rubric", problems=problems)
        if read is None or problems:
            raise EvaluatorConfigError("\n".join(problems))
        rubric = read
    about = {key: value[key] for key in _ABOUT if key in value}
    return Shelved(path.stem, rubric, about, is_edited=path.parent == edited)


def _shelved(version: AgentVersion, rubric: Rubric, about: Mapping[str, object]) -> Shelved:
    known = {"service": version.service, "agent": version.agent, "version": version.declared, **about}
    return Shelved(version.key, rubric, known)


def _is_of(shelved: Shelved, version: AgentVersion) -> bool:
    return (shelved.about.get("service"), shelved.about.get("agent")) == (version.service, version.agent)


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from folder.glob("*.yaml")


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _changed_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
