"""Whether a quote stands in a text word for word, after both are brought to one form.

The forms of a text are: as it stands, as it is shown, and for arguments and results also as their single values and as
JSON without its spaces. A part of a number is not that number. A few letters are found by chance nearly anywhere: they
count where they are all of a text, a value or a clause, or stand there once only and as whole words; one word of four
letters counts as a clause only.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from collector.model import JsonValue
from evaluators.quoting import is_cased, weight
from evaluators.timeline import leaves, parsed
from evaluators.transcript.escape import escape
from evaluators.transcript.values import json_text

_MARKS = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u201f\xab\xbb\u2033\u301d\u301e\uff02", '"')
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\uff07", "'")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
)
_BARE_QUOTE = re.compile(r'(?<!\\)"')
_QUOTING = re.compile(r"\n\| ?")
_MIN_CASED_CHARS = 4
_MIN_WORD_LETTERS = 5
_MIN_CHARS = 2
_SHORT_WEIGHT = 8
_MAX_DIGITS = 40
_MAX_PLACES = 1000
_PAUSES = ".,;:!?()\u2026\u3002\uff01\uff1f\uff0c\u3001\uff1b\uff1a\u060c\u061f\u0964 "
_SPLIT_NUMBER = re.compile(r"\d\0\d|\d\0[.:]\d|\d[.:]\0\d|\d\0,\d{3}(?!\d)|\d,\0\d{3}(?!\d)")
"""With a NUL where it is looked at."""
_ESCAPE = re.compile(r"\\u\{[0-9a-f]{0,5}\Z")
"""Of a sign that is shown by its number; see `transcript.escape`."""


@dataclass(frozen=True, slots=True)
class Forms:
    """The texts that a quote may be a part of."""

    raw: tuple[str, ...]
    plain: tuple[str, ...]
    """The whole text first, as it stands and as it is shown."""
    compact: tuple[str, ...] = ()
    wholes: frozenset[str] = frozenset()
    """What a short quote may be all of."""
    spoken: tuple[str, ...] = ()
    """Of the plain ones, those that are no JSON: they have clauses."""


@dataclass(frozen=True, slots=True)
class Needle:
    plain: str
    squeezed: str
    says_enough: bool
    is_short: bool


def text_forms(text: str) -> Forms:
    plain = (normalised(text), normalised(escape(text)))
    return Forms((text,), plain, wholes=frozenset(plain), spoken=plain)


def value_forms(text: str, value: JsonValue, *, name: str | None) -> Forms:
    """Of a call or a result, which is shown as `text`."""
    value = parsed(value)
    single = [leaf for leaf in leaves(value) if not isinstance(leaf, bool)]
    strings = tuple(leaf for leaf in single if isinstance(leaf, str))
    compact = () if value is None or isinstance(value, str) else (_squeezed(json_text(value)),)
    shown, spoken = text_forms(text).plain, tuple(map(normalised, strings))
    numbers = (json_text(leaf) for leaf in single if not isinstance(leaf, str))
    wholes = frozenset([*shown, *spoken, *numbers, normalised(name or "")])
    return Forms((text, *strings), (*shown, *spoken), compact, wholes, spoken)


def needles_of(quote: str) -> list[Needle]:
    """The forms in which a quote is looked for."""
    return [
        Needle(plain, _squeezed(plain), says_enough=_says_enough(plain), is_short=is_short(plain))
        for plain in dict.fromkeys(_needles(quote))
        if plain
    ]


def stands_in(needles: Iterable[Needle], forms: Forms) -> bool:
    return any(_fits(needle, forms) for needle in needles)


def normalised(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).translate(_MARKS).split())


def is_inside_number(text: str, at: int) -> bool:
    """Whether what stands before this place and what stands behind it are one number."""
    if text[max(0, at - _MAX_DIGITS) : at + _MAX_DIGITS].isdecimal():
        return False  # Too long to mean anything, and it may have to be cut somewhere.
    if _ESCAPE.search(text[max(0, at - 8) : at]):
        return False
    return _SPLIT_NUMBER.search(f"{text[max(0, at - 2) : at]}\0{text[at : at + 5]}") is not None


def is_short(needle: str) -> bool:
    """A few letters; signs alone are what they are, however often they stand there."""
    if len(needle) >= _SHORT_WEIGHT or not any(char.isalnum() for char in needle):
        return False
    return weight(needle) < _SHORT_WEIGHT


def _fits(needle: Needle, forms: Forms) -> bool:
    if needle.plain in forms.wholes:
        return True
    if not needle.says_enough:
        return any(_is_clause(needle.plain, text) for text in forms.spoken)
    if needle.is_short:
        once = any(_stands_once(needle.plain, text) for text in forms.plain[:2])
        return once or any(_is_clause(needle.plain, text) for text in forms.spoken)
    return any(_stands(needle.plain, text) for text in forms.plain) or any(
        _stands(needle.squeezed, text) for text in forms.compact
    )


def _stands(needle: str, text: str) -> bool:
    return needle in text and any(
        not is_inside_number(text, at) and not is_inside_number(text, at + len(needle)) for at in _places(needle, text)
    )


def _stands_once(needle: str, text: str) -> bool:
    found = list(islice(_places(needle, text), 2))
    if len(found) != 1 or not _stands(needle, text):
        return False
    return not _is_inside_word(text, found[0]) and not _is_inside_word(text, found[0] + len(needle))


def _is_clause(needle: str, text: str) -> bool:
    """Such as the yes of "Yes, please.". Spaces are single here."""
    words = needle.strip(_PAUSES)
    if not any(map(str.isalnum, words)):
        return False
    return any(
        text[max(0, at - 2) : at].rstrip()[-1:] in _PAUSES
        and text[at + len(words) : at + len(words) + 2].lstrip()[:1] in _PAUSES
        for at in _places(words, text)
    )


def _places(needle: str, text: str) -> Iterator[int]:
    """The first ones: no text of a kind that people write has more of them."""
    at = text.find(needle)
    for _ in range(_MAX_PLACES):
        if at < 0:
            return
        yield at
        at = text.find(needle, at + 1)


def _is_inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and is_cased(text[at - 1]) and is_cased(text[at])


def _says_enough(needle: str) -> bool:
    """A symbol such as an emoji, two signs of other scripts or of none (`!!`), or more than a short word."""
    if any(unicodedata.category(char) == "So" for char in needle):
        return True
    letters = [char for char in needle if char.isalnum()]
    if not letters or not all(map(is_cased, letters)):
        return len(needle) >= _MIN_CHARS
    is_one_word = needle.strip(_PAUSES).isalpha()
    return len(needle) >= _MIN_CASED_CHARS and not (is_one_word and len(letters) < _MIN_WORD_LETTERS)


def _needles(quote: str) -> Iterator[str]:
    """The quote as it stands; without the record's quoting, quotation marks around it, or an ellipsis after it; and
    with its JSON escapes undone.
    """
    text = _QUOTING.sub("\n", quote.strip().removeprefix("| "))
    for form in (text, _unescaped(text) if "\\" in text else None):
        if form is not None:
            plain = normalised(form)
            yield plain
            yield plain.removesuffix("...").removesuffix("…").strip()
            if len(plain) > 2 and plain[0] == plain[-1] and plain[0] in "\"'":
                yield plain[1:-1].strip()


def _unescaped(text: str) -> str | None:
    for form in (text, _BARE_QUOTE.sub(r"\"", text)):
        try:
            return str(json.loads(f'"{form}"', strict=False))
        except ValueError:
            continue
    return None


def _squeezed(text: str) -> str:
    return "".join(normalised(text).split())
