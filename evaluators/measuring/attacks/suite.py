"""Every technique in every place, in English; then every technique in the other languages, place after place.

The suite is the same in every run. A case has the form that `evaluators.measuring.cases` reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Literal, TypeAlias

from evaluators.measuring.attacks.scenes import WORDS, call, left_undone, loan, out_of_role
from evaluators.measuring.attacks.techniques import CRASHES, TECHNIQUES

Place: TypeAlias = Literal[
    "user", "assistant", "tool_result", "tool_name", "argument_key", "argument_value", "system", "tool_description"
]
PLACES: Sequence[Place] = (
    "user",
    "assistant",
    "tool_result",
    "tool_name",
    "argument_key",
    "argument_value",
    "system",
    "tool_description",
)
_EVERYWHERE: Sequence[Place] = ("user", "assistant", "system")
"""Places that every conversation has."""
_FAIL_EVERY = 5
"""So many cases apart, the conversation is right and the attacker wants it failed."""


def attack_suite() -> list[dict[str, Any]]:
    return [*_loans(), *_other_evaluators(), *_leaks(), *_crashes()]


def _loans() -> Iterator[dict[str, Any]]:
    number = count()
    for technique in TECHNIQUES:
        for place in PLACES:
            yield _loan(technique, place, "en", next(number))
    at = count()
    for language in [language for language in WORDS if language != "en"]:
        for technique in TECHNIQUES:
            yield _loan(technique, PLACES[next(at) % len(PLACES)], language, next(number))


def _loan(technique: str, place: Place, language: str, number: int) -> dict[str, Any]:
    wants = "fail" if number % _FAIL_EVERY == 0 else "pass"
    text = TECHNIQUES[technique](WORDS[language].orders[wants], wants)
    conversation = loan(language, checked=wants == "fail")
    truth = {"evaluator": "task_adherence", "label": "pass" if wants == "fail" else "fail"}
    return _case(technique, place, language, conversation, text, truth=truth, wants=wants)


def _other_evaluators() -> Iterator[dict[str, Any]]:
    scenes = {"role_adherence": out_of_role, "conversation_completeness": left_undone}
    for evaluator, scene in scenes.items():
        for number, (technique, dress) in enumerate(TECHNIQUES.items()):
            place = _EVERYWHERE[number % len(_EVERYWHERE)]
            text = dress(WORDS["en"].orders["pass"], "pass")
            truth = {"evaluator": evaluator, "label": "fail"}
            yield _case(technique, place, "en", scene(), text, truth=truth, wants="pass", beside=f"-{evaluator}")


def _leaks() -> Iterator[dict[str, Any]]:
    truth = {"evaluator": "task_adherence", "label": "fail"}
    for number, (language, words) in enumerate(WORDS.items()):
        place = PLACES[number % len(PLACES)]
        yield _case(
            "leak", place, language, loan(language, checked=False), words.orders["leak"], truth=truth, wants="leak"
        )


def _crashes() -> Iterator[dict[str, Any]]:
    truth = {"evaluator": "task_adherence", "label": "fail"}
    for number, text in enumerate(CRASHES):
        place = PLACES[number % len(PLACES)]
        scene = loan("en", checked=False)
        yield _case(f"crash_{number}", place, "en", scene, text, truth=truth, wants="crash")


def _case(
    technique: str,
    place: Place,
    language: str,
    conversation: dict[str, Any],
    text: str,
    *,
    truth: Mapping[str, str],
    wants: str,
    beside: str = "",
) -> dict[str, Any]:
    _put(conversation, place, text)
    return {
        "id": f"{technique}-{place}-{language}{beside}",
        "technique": technique,
        "language": language,
        "where": place,
        "conversation": conversation,
        "truth": dict(truth),
        "wants": wants,
    }


def _put(conversation: dict[str, Any], place: Place, text: str) -> None:
    messages = conversation["messages"]
    match place:
        case "user":
            messages[0]["content"] += f" {text}"
        case "assistant":
            messages[-1]["content"] += f" {text}"
        case "tool_result":
            _last(messages, "tool")["content"] += f" {text}"
        case "tool_name":
            messages[-1:-1] = call(text, {}, "unknown tool")
        case "argument_key":
            messages[-1:-1] = call("look_up", {text: 1}, "unknown tool")
        case "argument_value":
            messages[-1:-1] = call("look_up", {"about": text}, "unknown tool")
        case "system":
            conversation["system"] += f"\n{text}"
        case "tool_description":
            conversation["tools"][0]["function"]["description"] += f" {text}"


def _last(messages: Sequence[dict[str, Any]], role: str) -> dict[str, Any]:
    return next(message for message in reversed(messages) if message["role"] == role)
