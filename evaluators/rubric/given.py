"""Lists that a rubric's criteria speak of, such as allowed topics: written in the rubric, or given by configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evaluators.options import OptionReader, shown
from evaluators.rubric.model import MAX_TEXT_CHARS

_MAX_ITEMS = 100


def needed_lists(value: object) -> tuple[str, ...]:
    """Options that the configuration must give besides the rubric's own keys."""
    needs = value.get("needs") if isinstance(value, Mapping) else None
    return tuple(map(str, needs)) if isinstance(needs, Mapping) else ()


def read_given(
    rubric: Mapping[object, object], *, place: str, lists: Mapping[str, tuple[str, ...]], problems: list[str]
) -> Mapping[str, tuple[str, ...]]:
    """By heading. `lists` are what the configuration gives, by option."""
    found: dict[str, tuple[str, ...]] = {}
    for option, heading in _items(rubric, "needs", place, problems):
        if not isinstance(heading, str) or not heading.strip():
            problems.append(f"{place}.needs.{option} is {shown(heading)} and must be a heading.")
        elif not lists.get(option):
            problems.append(f"{place} needs the option {option}: {heading}, a list of texts.")
        else:
            found[heading] = lists[option]
    for heading, texts in _items(rubric, "given", place, problems):
        reader = OptionReader(f"{place}.given", {heading: texts}, problems)
        found[heading] = reader.texts(heading, wanted="a list of texts")
    for heading, items in found.items():
        if len(items) > _MAX_ITEMS or any(len(item) > MAX_TEXT_CHARS for item in items):
            problems.append(
                f"{place}: {heading} must be at most {_MAX_ITEMS} texts of at most {MAX_TEXT_CHARS} characters."
            )
    return found


def _items(rubric: Mapping[object, object], key: str, place: str, problems: list[str]) -> Iterator[tuple[str, object]]:
    value = rubric.get(key)
    if value is None:
        return
    if not isinstance(value, Mapping):
        problems.append(f"{place}.{key} is {shown(value)} and must be a mapping.")
        return
    for name, item in value.items():
        yield str(name), item
