"""Printed Python objects to plain values, as a last resort: some instrumentations send `repr()` where others send JSON.

A small parser of its own, since `ast.literal_eval` knows no `ChatMessage(role=..., ...)`, and nothing is ever
evaluated. A call becomes an object of its keyword arguments (private fields under their plain name), its name under
"__class__"; an enum member `<Role.USER: 'user'>` becomes its value; any other `<...>` and bare names become texts.
Bounded in length, depth and number of values; what does not parse to its end is None.

A replayed history is printed whole with every call. With `once` (`MessageDecoder.once`) the objects in its list are
only looked over for where they end, and each is parsed the first time it is seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

Once: TypeAlias = Callable[[Callable[[object], Any], object], Any]

MAX_LENGTH = 1_000_000
MAX_DEPTH = 40
MAX_VALUES = 100_000
CLASS = "__class__"

_OBJECT = re.compile(r"\s*[A-Za-z_][\w.]*\((?:[A-Za-z_]\w*=|<|\[|\{)")
_FIELDS = re.compile(r"\s*[A-Za-z_]\w*=(?:['\"\[({<]|None\b|True\b|False\b|-?\d|\w+\()")
_ADDRESS = re.compile(r"\s*<[\w.<> ]{1,200} at 0x[0-9a-fA-F]+>\s*")
_FIELD = re.compile(r"([A-Za-z_]\w*)=")
_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_NUMBER = re.compile(r"[+-]?(?:0x[0-9a-fA-F]+|(?:\d[\d_]*)?\.?\d+(?:[eE][+-]?\d+)?\.?)")
_STRING = re.compile(r"""[rbuRBU]{0,2}('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_CALLED = re.compile(r"[A-Za-z_][\w.]*\(")
_EXTENT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[()\[\]{}]""", re.DOTALL)
_ENUM = re.compile(r"<[\w.]+: ")
_BRACKET = re.compile(r"<|(?<!-)>")
"""Of `<function <lambda> at 0x7f>`; an arrow in a signature is none."""
_MAX_ANGLE = 10_000
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "\n": ""}
_CONSTANTS: dict[str, Any] = {"None": None, "True": True, "False": False, "nan": None, "inf": None}
_CLOSERS = {"[": "]", "(": ")", "{": "}"}


def looks_like_repr(text: str) -> bool:
    """A printed object, or a container that is no JSON."""
    head = text.lstrip()[:200]
    return bool(re.match(r"[A-Za-z_][\w.]*\(", head)) or head[:1] in ("{", "[", "(")


def is_printed_object(text: str) -> bool:
    """`Name(field=...)`, `Name([...])`, `field='...' other=...`: nothing that anybody would say."""
    return _OBJECT.match(text) is not None or is_address(text) or decode_fields(text) is not None


def is_address(text: str) -> bool:
    """`<client.Stream object at 0x7f>`: an object that says nothing of what is in it."""
    return _ADDRESS.fullmatch(text) is not None


def decode_repr(text: str, *, once: Once | None = None) -> Any:
    """The object or container that was printed; None where it is neither or does not parse. Not to be changed."""
    if len(text) > MAX_LENGTH:
        return None
    if not looks_like_repr(text):
        return decode_fields(text)
    try:
        value = _Parser(text, once).whole()
    except (_UnreadableError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


def decode_fields(text: str) -> dict[str, Any] | None:
    """The fields of a model that was printed without its name, `status='done' result=3`; None for any other text."""
    if len(text) > MAX_LENGTH or not _FIELDS.match(text):
        return None
    try:
        fields = _Parser(text, None).fields()
    except (_UnreadableError, RecursionError):
        return None
    return fields if len(fields) > 1 else None


def _object(text: object) -> Any:
    return decode_repr(text) if isinstance(text, str) else None


class _UnreadableError(ValueError):
    pass


class _Parser:
    def __init__(self, text: str, once: Once | None) -> None:
        self._text = text
        self._once = once
        self._at = 0
        self._left = MAX_VALUES

    def whole(self) -> Any:
        value = self._value(MAX_DEPTH)
        self._skip()
        if self._at != len(self._text):
            raise _UnreadableError
        return value

    def fields(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self._peek():
            name = _FIELD.match(self._text, self._at)
            if name is None:
                raise _UnreadableError
            self._at = name.end()
            found[name[1]] = self._value(MAX_DEPTH)
        return found

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        if match is not None:
            self._at = match.end()

    def _peek(self) -> str:
        self._skip()
        return self._text[self._at : self._at + 1]

    def _take(self, expected: str) -> bool:
        if self._peek() != expected:
            return False
        self._at += 1
        return True

    def _value(self, depth: int) -> Any:
        self._left -= 1
        if depth <= 0 or self._left <= 0:
            raise _UnreadableError
        char = self._peek()
        string = _STRING.match(self._text, self._at)
        if string is not None:
            return self._strings()
        if char in _CLOSERS:
            return self._container(char, depth)
        if char == "<":
            return self._angle(depth)
        number = _NUMBER.match(self._text, self._at)
        if number is not None and (char.isdigit() or char in "+-."):
            self._at = number.end()
            return _number(number[0])
        name = _NAME.match(self._text, self._at)
        if name is None:
            raise _UnreadableError
        self._at = name.end()
        if self._text[self._at : self._at + 1] == "(":
            self._at += 1
            return self._call(name[0], depth)
        return _CONSTANTS.get(name[0], name[0])

    def _strings(self) -> str:
        """Adjacent literals are one text."""
        found: list[str] = []
        while (match := _STRING.match(self._text, self._at)) is not None:
            self._at = match.end()
            found.append(_ESCAPE.sub(_unescaped, match[1][1:-1]))
            self._skip()
        return "".join(found)

    def _container(self, opener: str, depth: int) -> Any:
        self._at += 1
        closer = _CLOSERS[opener]
        items: list[Any] = []
        pairs: dict[str, Any] = {}
        while not self._take(closer):
            value = self._known() if opener == "[" and self._once is not None else None
            value = self._value(depth - 1) if value is None else value
            if opener == "{" and self._take(":"):
                pairs[str(value)] = self._value(depth - 1)
            else:
                items.append(value)
            if not self._take(",") and self._peek() != closer:
                raise _UnreadableError
        return pairs if opener == "{" and not items else items

    def _known(self) -> Any:
        """The object that begins here, as it was parsed before or is now; None where there is no object."""
        self._skip()
        called = _CALLED.match(self._text, self._at)
        if called is None or self._once is None:
            return None
        still_open = 1
        for token in _EXTENT.finditer(self._text, called.end()):
            if token[0] in _CLOSERS:
                still_open += 1
            elif token[0] in ")]}":
                still_open -= 1
                if still_open == 0:
                    found = self._once(_object, self._text[self._at : token.end()])
                    self._at = self._at if found is None else token.end()
                    return found
        return None

    def _call(self, name: str, depth: int) -> Any:
        fields: dict[str, Any] = {CLASS: name.rpartition(".")[2]}
        values: list[Any] = []
        while not self._take(")"):
            keyword = _NAME.match(self._text, self._at)
            if keyword is not None and self._text[keyword.end() : keyword.end() + 1] == "=":
                self._at = keyword.end() + 1
                fields[keyword[0].lstrip("_") or "_"] = self._value(depth - 1)
            else:
                values.append(self._value(depth - 1))
            if not self._take(",") and self._peek() != ")":
                raise _UnreadableError
        if values and len(fields) == 1:
            return values[0] if len(values) == 1 else values  # OrderedDict(...), deque(...), datetime(...)
        return fields

    def _angle(self, depth: int) -> Any:
        enum = _ENUM.match(self._text, self._at)
        if enum is not None:
            self._at = enum.end()
            value = self._value(depth - 1)
            if self._take(">"):
                return value
            raise _UnreadableError
        start, open_brackets = self._at, 0
        for bracket in _BRACKET.finditer(self._text, start, start + _MAX_ANGLE):
            open_brackets += 1 if bracket[0] == "<" else -1
            if open_brackets == 0:
                self._at = bracket.end()
                return self._text[start : self._at]
        raise _UnreadableError


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        point = int(code[1:], 16)
        return chr(point) if point < 0x110000 else ""
    return _SIMPLE.get(code, code)


def _number(text: str) -> int | float | None:
    try:
        return int(text.replace("_", ""), 0) if "0x" in text else int(text.replace("_", ""))
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return None
