"""Rubrics for tests, and a judge that answers each criterion as scripted."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evaluators.rubric.model import Rubric
from evaluators.rubric.reading import read_rubric
from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import Reply, Script, answer
from tests.support.record_reader import read_record


def rubric(*criteria: object, **keys: object) -> Rubric:
    problems: list[str] = []
    found = read_rubric({"criteria": list(criteria), **keys}, place="rubric", problems=problems)
    assert found is not None
    assert problems == []
    return found


def problems_of(value: object, **lists: tuple[str, ...]) -> list[str]:
    problems: list[str] = []
    read_rubric(value, place="rubric", problems=problems, lists=lists)
    return problems


def entry(criterion: str, given: str = "yes", *evidence: Mapping[str, str], turn: int | None = None):
    where = {} if turn is None else {"turn": turn}
    return {**where, "criterion": criterion, "reasoning": "Seen.", "evidence": list(evidence), "answer": given}


def reply(*entries: object, summary: str = "Because.", injection: bool = False) -> Reply:
    return answer({"injection_suspected": injection, "answers": list(entries), "summary": summary})


def rubric_judge(answers: Mapping[object, str] | None = None, *, summary: str = "") -> Script:
    """Answers every criterion that the question names, in every turn that it names: yes, or as `answers` has it under
    the criterion's name or (turn, name). A no cites the answer, or else the user's words, of the turn.
    """

    def script(call: JudgeCall) -> Reply:
        record = read_record(call.text)
        names = re.findall(r"^Criterion ([\w-]+):$", record.question, re.MULTILINE)
        listed = re.search(r"Agent turns to judge[^:]*: ([\d, ]+)\.", record.question)
        only = re.search(r"Judge turn (\d+) only", record.question)
        turns = [int(number) for number in listed[1].split(",")] if listed else [None]
        entries = []
        for turn in turns:
            for name in names:
                given = (answers or {}).get((turn, name)) or (answers or {}).get(name, "yes")
                at = turn if turn is not None else int(only[1]) if only else record.turns[-1]
                evidence = [_citation(record, at)] if given == "no" else []
                entries.append(entry(name, given, *evidence, turn=turn))
        return reply(*entries, summary=summary)

    return script


def _citation(record, turn: int) -> dict[str, str]:
    place = record.find(f"t{turn}.answer") or record.find(f"t{turn}.user")
    return {"at": place.at, "quote": place.content.split("\n")[0][:80]}
