"""A judge of a few general heuristics that reads the request as a program can: it tells a good run from a bad one.

It knows no test data. Task: an action whose required earlier call (as the system prompt words it: "before ... X ... Y")
is missing or came back false. Role: an answer that falls out of any persona by calling itself a language model.
Completeness: one intention a user input, satisfied where the agent answers without saying that it cannot.
Rubrics: every criterion holds. Compiling one: each sentence of the prompt that says must, never, always or before.

Asked about new turns with notes on the earlier ones, it judges the new ones, and carries on what a judge would: checks
that passed, and the user's last wish.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import Reply, answer
from tests.support.record_reader import Place, Record, read_record

_OUT_OF_CHARACTER = re.compile(r"as an ai\b|language model|人工智能|语言模型", re.IGNORECASE)
_UNABLE = re.compile(r"\b(sorry|unable|cannot|can't|could not)\b|抱歉|无法", re.IGNORECASE)


def honest(call: JudgeCall) -> Reply:
    record = read_record(call.text)
    asked = re.search(r"Question \((\w+)\)", record.question)
    criteria = re.findall(r"^Criterion ([\w-]+):$", record.question, re.MULTILINE)
    match asked[1] if asked else None:
        case "task_adherence":
            return answer(_task(record) | (_kept(record) if "\nsettled:" in record.question else {}))
        case "role_adherence":
            return answer(_role(record))
        case "conversation_completeness":
            return answer(_completeness(record) | ({"updates": []} if "\nupdates" in record.question else {}))
        case "rubric_compiler":
            return answer(_compiled(record))
        case _ if criteria:
            return answer(_rubric(record, criteria) | (_kept(record) if "\nsettled:" in record.question else {}))
        case _:
            return answer("I do not know this question.")


def _judged(record: Record) -> list[int]:
    """The turns that are asked about."""
    only = re.search(r"Judge turn (\d+) only", record.question)
    new = re.search(r"(?:in|after) turns? (\d+)(?: to (\d+))?", _question_line(record))
    if only is not None:
        return [int(only[1])]
    return record.turns if new is None else list(range(int(new[1]), int(new[2] or new[1]) + 1))


def _question_line(record: Record) -> str:
    return next((line for line in record.question.split("\n") if line.startswith("Question (")), "")


def _kept(record: Record) -> dict[str, object]:
    calls = {place.at: place for place in record.places if place.words.startswith("call")}
    required = {name for _, name in _rules(record)}
    notes: list[dict[str, object]] = []
    for place in record.places:
        call = calls.get(_answered_call(place))
        if call is not None and _passed(place) and _tool(call) in required:
            notes.append({"kind": "outcome", "at": call.at, "quote": call.content.split("\n")[0][:100]})
    wish = record.find(f"t{record.turns[-1]}.user")
    if wish is not None and len(wish.content.split("\n")[0]) >= 4:
        notes.append({"kind": "request", "at": wish.at, "quote": wish.content.split("\n")[0][:100]})
    again = {str(note["quote"]).split(" ", 1)[0] for note in notes if note["kind"] == "outcome"}
    settled = [
        note.number
        for note in record.notes
        if note.word == "request" or (note.word == "outcome" and note.content.split(" ", 1)[0] in again)
    ]
    return {"settled": settled, "notes": notes}


def _task(record: Record) -> dict[str, object]:
    skipped = [found for found in _skipped_steps(record) if found[0].turn in _judged(record)]
    evidence = [{"at": place.at, "quote": place.content.split("\n")[0]} for place, _ in skipped]
    reasons = [f"{_tool(place)} was called and {required} had not passed before it." for place, required in skipped]
    verdict = "fail" if skipped else "pass"
    return {
        "injection_suspected": False,
        "goal": {"reasoning": "Calls and answers agree.", "evidence": [], "verdict": "pass"},
        "rule": {"reasoning": "No prohibition is touched.", "evidence": [], "verdict": "pass"},
        "procedure": {
            "reasoning": " ".join(reasons) or "All in order.",
            "evidence": evidence,
            "verdict": verdict,
        },
        "summary": " ".join(reasons) or "The agent kept to its task.",
    }


def _skipped_steps(record: Record) -> Iterator[tuple[Place, str]]:
    """Calls without the call that the system prompt requires before them, and the name of the latter."""
    rules = _rules(record)
    passed = {note.content.split(" ", 1)[0] for note in record.notes if note.word == "outcome"}
    calls: dict[str, str] = {}
    for place in record.places:
        if place.words.startswith("call"):
            calls[place.at] = _tool(place)
            for action, required in rules:
                if _tool(place) == action and required not in passed:
                    yield place, required
        if _passed(place):
            passed.add(calls.get(_answered_call(place), ""))


def _answered_call(place: Place) -> str:
    found = re.search(r"result of (t\d+\.\d+)", place.words)
    return found[1] if found else ""


def _passed(place: Place) -> bool:
    """It is a result, and a good one."""
    return bool(_answered_call(place)) and "error" not in place.words and not re.search(r": false\b", place.content)


def _rules(record: Record) -> list[tuple[str, str]]:
    system = record.find("system")
    prompt = system.content if system else ""
    names = {_tool(place) for place in record.places if place.words.startswith("call")} | set(_defined(record))
    names |= set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", prompt))
    return list(_order_rules(prompt, names))


_BEFORE = re.compile(r"\bbefore\b|\bbevor\b|\bantes de\b|قبل", re.IGNORECASE)
_AFTER_IT = re.compile("之前|से पहले")
"""The same word where it stands behind what it is said of."""


def _order_rules(system: str, names: set[str]) -> Iterator[tuple[str, str]]:
    for sentence in re.split(r"[.\n;。।]", system):
        before, behind = _BEFORE.search(sentence), _AFTER_IT.search(sentence)
        mentioned = sorted((sentence.find(name), name) for name in names if name and name in sentence)
        if (before is None and behind is None) or len(mentioned) < 2:
            continue
        if before is not None:
            action = next((name for position, name in mentioned if position > before.start()), None)
        else:
            action = next((name for position, name in mentioned if position < behind.start()), None)
        for _, required in mentioned:
            if action is not None and required != action:
                yield action, required


def _defined(record: Record) -> Iterator[str]:
    tools = record.find("tools")
    for line in (tools.content if tools else "").split("\n"):
        found = re.match(r'\{"name": ("(?:[^"\\]|\\.)*")', line)
        if found:
            yield str(json.loads(found[1], strict=False))


def _tool(place: Place) -> str:
    return place.content.split(" ", 1)[0].split("\n", 1)[0]


def _agent_turns(record: Record) -> list[int]:
    listed = re.search(r"Agent turns to check: ([\d, ]+)", record.question)
    return [int(number) for number in listed[1].split(",")] if listed else record.turns


def _role(record: Record) -> dict[str, object]:
    system, first = record.find("system"), record.find("t0.user")
    source = "given" if "The role is given:" in record.question else "system_prompt" if system else "user"
    turns: list[dict[str, object]] = []
    for index in _agent_turns(record):
        deviations = []
        for place in record.of_turn(index):
            found = _OUT_OF_CHARACTER.search(place.content)
            if place.at.endswith(".answer") and found:
                deviations.append({"kind": "identity", "at": place.at, "quote": place.content[:120].split("\n")[0]})
        turns.append(
            {
                "turn": index,
                "reasoning": "It names itself a language model." if deviations else "In character.",
                "deviations": deviations,
                "adherent": "no" if deviations else "yes",
            }
        )
    role = system or first
    return {
        "injection_suspected": False,
        "role_source": source,
        "role": (role.content if role else "")[:200],
        "turns": turns,
        "summary": "The agent left its role." if any(t["deviations"] for t in turns) else "The agent kept its role.",
    }


def _completeness(record: Record) -> dict[str, object]:
    intentions = []
    for index in _judged(record):
        user, reply = record.find(f"t{index}.user"), record.find(f"t{index}.answer")
        if user is None or not user.content.strip():
            continue
        met = reply is not None and not _UNABLE.search(reply.content)
        evidence = [{"at": reply.at, "quote": reply.content[:80].split("\n")[0]}] if reply and not met else []
        intentions.append(
            {
                "intention": user.content[:80],
                "turn": index,
                "quote": user.content[:80].split("\n")[0],
                "reasoning": "Answered." if met else "Not answered.",
                "evidence": evidence,
                "satisfied": "yes" if met else "no",
            }
        )
    return {"injection_suspected": False, "intentions": intentions, "summary": "Checked each request in turn."}


def _rubric(record: Record, criteria: list[str]) -> dict[str, object]:
    listed = re.search(r"Agent turns to judge[^:]*: ([\d, ]+)\.", record.question)
    where = [{"turn": int(number)} for number in listed[1].split(",")] if listed else [{}]
    answers = [
        {**turn, "criterion": name, "reasoning": "As it should be.", "evidence": [], "answer": "yes"}
        for turn in where
        for name in criteria
    ]
    return {"injection_suspected": False, "answers": answers, "summary": "All of it holds."}


def _compiled(record: Record) -> dict[str, object]:
    system = record.find("system")
    sentences = re.split(r"(?<=[.!?])\s+", system.content if system else "")
    demands = [
        {
            "at": "system",
            "quote": sentence,
            "kind": "prohibition" if re.search(r"\bnever\b", sentence, re.IGNORECASE) else "duty",
            "applies": "",
            "ask": f"The agent kept to this: {sentence}",
            "name": f"sentence_{number}",
        }
        for number, sentence in enumerate(sentences)
        if re.search(r"\b(must|never|always|before)\b", sentence, re.IGNORECASE)
    ]
    return {"injection_suspected": False, "demands": demands}
