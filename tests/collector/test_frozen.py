"""Quickly made records are the same as any frozen dataclass's."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field

import pytest

from collector.frozen import altered, quick


@dataclass(frozen=True, slots=True)
class Plain:
    name: str
    size: int = 3
    tags: tuple[str, ...] = ()


@quick
@dataclass(frozen=True, slots=True)
class Quick:
    name: str
    size: int = 3
    tags: tuple[str, ...] = ()


@quick
@dataclass(frozen=True, slots=True, eq=False)
class ByIdentity:
    name: str


def test_a_record_has_its_fields_and_defaults() -> None:
    record = Quick("a", tags=("x",))

    assert type(record) is Quick
    assert dataclasses.astuple(record) == ("a", 3, ("x",))
    assert repr(record) == repr(Plain("a", tags=("x",))).replace("Plain", "Quick")


def test_records_are_equal_and_hash_by_content() -> None:
    assert Quick("a") == Quick("a", 3)
    assert hash(Quick("a")) == hash(Quick("a", 3))
    assert Quick("a") != Quick("b")
    assert ByIdentity("a") != ByIdentity("a")


@pytest.mark.parametrize(
    "change", [lambda r: setattr(r, "name", "b"), lambda r: delattr(r, "name")], ids=["set", "del"]
)
def test_a_record_is_frozen(change) -> None:
    record = Quick("a")

    with pytest.raises(FrozenInstanceError):
        change(record)


def test_a_wrong_call_is_refused_as_by_any_dataclass() -> None:
    with pytest.raises(TypeError):
        Quick()
    with pytest.raises(TypeError):
        Quick("a", colour="red")


def test_an_altered_copy_leaves_the_original_alone() -> None:
    record = Quick("a")

    changed = altered(record, size=4)

    assert changed == dataclasses.replace(record, size=4) == Quick("a", 4)
    assert record == Quick("a")


def test_an_unknown_field_cannot_be_altered() -> None:
    with pytest.raises(AttributeError):
        altered(Quick("a"), colour="red")


def test_signatures_copies_and_pickles_are_those_of_a_dataclass() -> None:
    record = Quick("a", 5)

    assert list(inspect.signature(Quick).parameters) == list(inspect.signature(Plain).parameters)
    assert copy.copy(record) == copy.deepcopy(record) == pickle.loads(pickle.dumps(record)) == record


def test_a_class_that_it_cannot_serve_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Longer(Plain):
        more: list[str] = field(default_factory=list)

    with pytest.raises(TypeError, match="Longer"):
        quick(Longer)
    with pytest.raises(TypeError, match="Loose"):
        quick(type("Loose", (), {"__dataclass_fields__": {}, "__slots__": ("a",)}))
