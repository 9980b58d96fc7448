"""Frozen dataclasses that are made quickly: the hot path makes a dozen of them for each span.

The `__init__` of a frozen dataclass goes round its own `__setattr__` for every field, which costs five times what a
plain assignment does. `quick` gives such a class an `__init__` of the same signature that fills the fields while the
object is of a twin class without that guard, and then makes it what it is to be: from then on it is as frozen as any.
`altered` is `dataclasses.replace` for these classes. Nothing else about them changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, TypeVar

RecordT = TypeVar("RecordT")

_COPY = "__quick_copy__"


def quick(cls: type[RecordT]) -> type[RecordT]:
    """For classes that are `@dataclass(frozen=True, slots=True)`, have no `__post_init__` and inherit from nothing."""
    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]  # the decorator below this one makes it so
    defaults = {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]  # same
    if cls.__mro__ != (cls, object) or tuple(cls.__dict__["__slots__"]) != tuple(names):
        raise TypeError(f"The class {cls.__name__} is no frozen slotted dataclass of its own; leave it as it is.")
    twin = type(f"_{cls.__name__}", (), {"__slots__": tuple(names)})
    namespace: dict[str, Any] = {"_twin": twin, "_cls": cls, "_become": object.__setattr__}
    namespace |= {f"_default_{name}": value for name, value in defaults.items() if value is not MISSING}
    parameters = [name if defaults[name] is MISSING else f"{name}=_default_{name}" for name in names]
    make = _function("__init__", ["self", *parameters], [f"self.{name} = {name}" for name in names], namespace)
    copy = _function(_COPY, ["self", "source"], [f"self.{name} = source.{name}" for name in names], namespace)
    make.__qualname__ = f"{cls.__name__}.__init__"
    make.__annotations__ = {**cls.__annotations__, "return": None}
    cls.__init__ = make  # type: ignore[method-assign]  # which is the whole point
    setattr(cls, _COPY, copy)
    return cls


def altered(record: RecordT, /, **changes: Any) -> RecordT:
    """A copy with these fields changed."""
    cls: Any = type(record)
    copy: Any = object.__new__(cls)
    cls.__quick_copy__(copy, record)
    change = object.__setattr__
    for name, value in changes.items():
        change(copy, name, value)
    return copy  # type: ignore[no-any-return]  # made of `record`'s own class


def _function(
    name: str, parameters: list[str], assignments: list[str], namespace: dict[str, Any]
) -> Callable[..., None]:
    """A function that fills `self`, written out field by field as dataclasses writes its own."""
    lines = ["_become(self, '__class__', _twin)", *assignments, "self.__class__ = _cls"]
    source = f"def {name}({', '.join(parameters)}):\n" + "".join(f"    {line}\n" for line in lines)
    local: dict[str, Any] = {}
    exec(source, namespace, local)  # noqa: S102 - names of our own fields only
    function: Callable[..., None] = local[name]
    return function
