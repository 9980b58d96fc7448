"""Numbers as people write them: 1,200 or 1.200, 5k, 15 %, two, zwei, 两."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NUMBER = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f ]\d+)*")
_NOT_DIGIT = re.compile(r"\D")
_SCALED = re.compile(
    r"(?<![\d.,])(\d{1,15}(?:[.,]\d{1,9})?) ?"
    r"(?:(k|m|mio|tsd|million|millions|millionen|millones)(?!\w)|([%\u4e07\u842c\u5343\u4ebf]))"
)
_SCALES = {"k": 1e3, "tsd": 1e3, "\u5343": 1e3, "\u4e07": 1e4, "\u842c": 1e4, "\u4ebf": 1e8, "%": 0.01}
_MILLION = 1e6
_MAX_DIGITS = 300
_WORDS = (
    "zero no none null kein keine cero ningún aucun nessuno nenhum",
    "a an one once ein eine einen einem einer eins un una uno une um uma single",
    "two twice both couple pair zwei beide dos deux due dois duas",
    "three drei tres trois tre três",
    "four vier cuatro quatre quattro quatro",
    "five fünf cinco cinq cinque",
    "six sechs seis sei",
    "seven sieben siete sept sette sete",
    "eight acht ocho huit otto oito",
    "nine neun nueve neuf nove",
    "ten zehn diez dix dieci dez",
    "eleven elf once onze undici",
    "twelve dozen zwölf dutzend doce douze dodici doze",
)
_WORD_OF = {number: re.compile(rf"\b(?:{'|'.join(words.split())})\b") for number, words in enumerate(_WORDS)}
_EAST_ASIAN = "\u96f6\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341"
_PAIR = "\u4e24\u5169"


def numbers_in(text: str) -> Iterator[float]:
    """Those in digits; expects a folded text."""
    tokens = set(_NUMBER.findall(text))
    for token in tokens:
        if token.isdecimal():
            yield float(token)
        else:
            yield from _readings(token)


def is_in_words(number: float, text: str) -> bool:
    """A small whole number in a word."""
    return number in _WORD_OF and bool(_WORD_OF[int(number)].search(text) or _has_sign(int(number), text))


def scaled_in(text: str) -> Iterator[float]:
    """What those with a scale come to; expects a folded text."""
    for found in _SCALED.finditer(text):
        yield from _scaled(found)


def _has_sign(number: int, text: str) -> bool:
    signs = _EAST_ASIAN[number : number + 1] + (_PAIR if number == 2 else "")
    return any(sign in text for sign in signs)


def _scaled(found: re.Match[str]) -> Iterator[float]:
    scale = _SCALES.get(found[2] or found[3], _MILLION)
    for number in _readings(found[1]):
        yield round(number * scale, 9)


def _readings(token: str) -> set[float]:
    """Every number that a token of several parts may be: "1,200" is 1200 or 1.2, and "3 4" is 3, 4 or 34."""
    parts = [part for part in _NOT_DIGIT.split(token) if part]
    if sum(map(len, parts)) > _MAX_DIGITS:
        return set()
    return {*map(float, parts), float("".join(parts)), float("".join(parts[:-1]) + "." + parts[-1])}
