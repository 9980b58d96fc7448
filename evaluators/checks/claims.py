"""Finds where an agent says, in the first person and as done, that it has taken an action.

"I have refunded", "Ich habe ... storniert", "he cancelado", "j'ai réservé", "已为您退款", "返金しました". Questions,
conditions, negations, quoted text, code and drafts of letters are no claims, nor is what an agent says of its own
writing ("I've updated the summary"). What is not recognised is no claim: this finds the plain cases, in the languages
of the lexicon, and leaves the others to a model.
"""

# ruff: noqa: RUF001 - punctuation of other scripts is what is looked for

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluators.checks.lexicon import ACTIONS, TROUBLE, WRITING, WRITTEN, Action

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_NOT_SAID = re.compile(
    r"```.*?```|`[^`\n]*`|^[ \t]*>[^\n]*$|\"[^\"\n]{12,}\"|“[^”\n]*”|„[^“\n]*“|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』",
    re.DOTALL | re.MULTILINE,
)
_DRAFT = re.compile(
    r"^\s*(?:subject|dear|betreff|sehr geehrte|asunto|estimad|objet|cher|chère|oggetto|assunto)\b|主题：|尊敬的",
    re.IGNORECASE | re.MULTILINE,
)
_CONDITION = re.compile(
    r"\b(?:if|once|when|after|until|unless|before|will|would|could|should|might|as soon as|example|wenn|falls|"
    r"sobald|nachdem|si|cuando|después|una vez|hasta|quand|lorsque|dès|après|se|quando|dopo|depois|"
    r"assim que)\b|"
    r"如果|一旦|之后|以后|假如|例如|たら|場合|면",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|never|nicht|nie|keine?n?|noch|no|nunca|non|mai|não|n'|pas)\b|没|未|尚|ません|않|안 ", re.IGNORECASE
)
_CLAIMS: Mapping[str, str] = {
    "en": r"\bI(?:['’]ve| have)?(?: just| now| already| also| successfully| gone ahead and)* (?:{form})\b"
    r"(?=\s+(?:the|your|this|that|it|both|all|an?|you|them|these|those|to|\d))",
    "de": r"\b(?:ich habe|habe ich)\b[^.!?;:\n]{{0,80}}?\b(?:{form})\b",
    "es": r"(?<!\w)(?:te |le |les |os |lo |la |ya |se lo )*he (?:{form})\b",
    "fr": r"\bj['’]ai (?:bien |déjà |aussi )*(?:{form})\b",
    "it": r"(?<!\w)(?:le |ti |vi |lo |la |già )*ho (?:appena |già |anche )*(?:{form})\b",
    "pt": r"(?<!\w)(?:já |eu )*(?:{form})\b",
    "zh": r"(?:我们?(?:这边)?已经?|已经?(?:为|帮|给|替)[您你])[^。！？，,；\n]{{0,16}}?(?:{form})(?!的)",
    "ja": r"(?:{form})(?:を|の手続きを)?(?:いた|致)?しました",
    "ko": r"(?:{form})(?:을|를)?\s?(?:처리)?(?:해 ?드렸|했)습니다",
}
_SPACED = r"\b(?:{form})\b"
_REPORTS: Mapping[str, str] = {
    **dict.fromkeys(("en", "de", "es", "fr", "it", "pt"), _SPACED),
    "zh": r"(?:已经?|成功)[^。！？，,；\n]{{0,8}}?(?:{form})(?!的)|(?:{form})(?:成功|完成|好了)",
    "ja": r"(?:{form})[^。\n]{{0,8}}(?:しました|いたしました|承りました|完了)",
    "ko": r"(?:{form})[^.\n]{{0,6}}(?:했|되었|드렸)습니다",
}
_ASKED = re.compile(
    r"\b(?:which|what|whose|whether|where|welche[rsnm]?|ob|wo|cu[aá]l(?:es)?|qu[eé]|d[oó]nde|quel(?:le)?s?|où|"
    r"quale|quali|qual|quais|onde)\b|哪|什么|どの|どれ|何|어느|어떤|무엇",
    re.IGNORECASE,
)
_ALREADY = re.compile(
    r"(?:\b(?:already|schon|bereits|déjà|già|já)|已被|すでに|既に|이미)\s*(?:\w+\s)?\Z", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Claim:
    action: Action
    sentence: str
    """Verbatim."""


class ClaimFinder:
    """Compiles the lexicon once."""

    def __init__(self) -> None:
        self._claims = {action.name: _pattern(action, _CLAIMS) for action in ACTIONS}
        self._reports = {action.name: _pattern(action, _REPORTS) for action in ACTIONS}
        self._by_form: dict[str, list[Action]] = {}
        for action in ACTIONS:
            for form in "|".join(action.forms.values()).split("|"):
                self._by_form.setdefault(form, []).append(action)
        self._unspaced = [form for form in self._by_form if _UNSPACED.match(form)]
        self._trouble = re.compile(TROUBLE, re.IGNORECASE)
        self._written = re.compile(WRITTEN, re.IGNORECASE)

    def claims(self, text: str) -> Iterator[Claim]:
        """What the agent says that it has done; at most one a sentence and action."""
        found = self._find(text, self._claims)
        return (
            claim for claim in found if claim.action.name not in WRITING or not self._written.search(claim.sentence)
        )

    def reports(self, text: str) -> Iterator[Claim]:
        """What is said to be done, by whomever; at most one a sentence and action."""
        return self._find(text, self._reports, is_report=True)

    def owns_up(self, text: str) -> bool:
        """The text speaks of trouble somewhere."""
        return self._trouble.search(text) is not None

    def _find(self, text: str, patterns: Mapping[str, re.Pattern[str]], *, is_report: bool = False) -> Iterator[Claim]:
        actions = self._actions_named(text)
        if not actions or _DRAFT.search(text) is not None:
            return
        for sentence in _sentences(text):
            lower = sentence.casefold()
            for action, forms in actions.items():
                if not any(form in lower for form in forms):
                    continue
                found = patterns[action.name].search(sentence)
                if found is None or (is_report and not _is_told(sentence[: found.start()])):
                    continue
                if _is_plain(sentence, found):
                    yield Claim(action, sentence.strip())

    def _actions_named(self, text: str) -> dict[Action, list[str]]:
        """Actions whose done form stands in the text, with the forms: most answers hold none."""
        lower = text.casefold()
        forms = [word for word in set(_WORD.findall(lower)) if word in self._by_form]
        if _UNSPACED.search(lower):
            forms += [form for form in self._unspaced if form in lower]
        named: dict[Action, list[str]] = {}
        for form in sorted(forms):
            for action in self._by_form[form]:
                named.setdefault(action, []).append(form)
        return named


def _pattern(action: Action, frames: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile(
        "|".join(frames[language].format(form=form) for language, form in action.forms.items()), re.IGNORECASE
    )


def _sentences(text: str) -> Iterator[str]:
    said = _NOT_SAID.sub(lambda found: "\n" * len(found[0]), text)
    for found in _SENTENCE.finditer(said):
        sentence = found[0]
        if not sentence.rstrip().endswith(("?", "？")):
            yield sentence


def _is_told(before: str) -> bool:
    """The user is not asked about it, and it was not so before."""
    return _ASKED.search(before) is None and _ALREADY.search(before[-24:]) is None


def _is_plain(sentence: str, found: re.Match[str]) -> bool:
    before = sentence[: found.start()]
    return (
        _CONDITION.search(before) is None
        and _NEGATION.search(found[0]) is None
        and _NEGATION.search(before[-12:]) is None
    )
