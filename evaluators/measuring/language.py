"""The language of a text, guessed from its script and commonest words; a person may put another one in its place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

UNKNOWN = "-"
_MAX_CHARS = 20_000
_SCRIPTS: Mapping[str, str] = {
    "ja": "\u3040-\u30ff",
    "ko": "\uac00-\ud7af",
    "zh": "\u4e00-\u9fff",
    "hi": "\u0900-\u097f",
    "ar": "\u0600-\u06ff",
    "ru": "\u0400-\u04ff",
    "el": "\u0370-\u03ff",
    "he": "\u0590-\u05ff",
    "th": "\u0e00-\u0e7f",
}
_WORDS: Mapping[str, str] = {
    "en": "the and you is are to of my please what with this have can i it for not",
    "de": "der die das und ich sie ist nicht bitte mein meine ein eine mit für wie auf zu",
    "fr": "le la les et je vous est pas pour mon ma une des avec que sur bonjour du",
    "es": "el la los y de que mi por para una con está no quiero hola del las es",
    "pt": "o os e de que meu minha por para uma com não quero olá do da um é",
    "it": "il lo gli e di che mio mia per una con non vorrei ciao del della è sono",
    "nl": "de het en ik u is niet mijn een met voor op graag van dat wat kan",
}
_FEW = 0.1
"""Of all letters: less than this of a script is a name or a quotation."""


def language_of(text: str) -> str:
    """ISO 639-1, or `-`."""
    text = text[:_MAX_CHARS]
    letters = sum(char.isalpha() for char in text)
    if not letters:
        return UNKNOWN
    for language, script in _SCRIPTS.items():
        if len(re.findall(f"[{script}]", text)) > _FEW * letters:
            return language
    words = Counter(re.findall(r"\w+", text.lower()))
    hits = {language: sum(words[word] for word in known.split()) for language, known in _WORDS.items()}
    best = max(hits, key=lambda language: hits[language])
    return best if hits[best] else UNKNOWN
