import json
from random import Random

import pytest

from collector.clock import SystemClock
from evaluators.errors import EvaluatorConfigError
from evaluators.judge.config import JudgeConfig
from evaluators.judge.connect import open_endpoint
from evaluators.measuring.asking import ask_batch, ask_live, batch_lines
from evaluators.measuring.bench import Bench, report_of
from evaluators.measuring.cases import case_of
from evaluators.verdict import Outcome
from tests.support.batch_runner import run_batch
from tests.support.honest_judge import honest
from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import answer, error
from tests.support.judge_server import JudgeServer
from tests.support.judging_cases import ATTACKS, ROLE, TASK, judging_cases

SYSTEM = "Before issue_refund you must call verify_identity."


def task_case(name, *calls, label, language="en", fault=None, completeness=1.0):
    messages = [{"role": "user", "content": f"My money back, please. I am {name}."}]
    for number, call in enumerate(calls):
        function = {"name": call, "arguments": "{}"}
        messages.append({"role": "assistant", "tool_calls": [{"id": f"c{number}", "function": function}]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "ok"})
    messages.append({"role": "assistant", "content": "Done."})
    labels = {"task_adherence": label, "goal": "pass", "procedure": label, "completeness": completeness}
    conversation = {"system": SYSTEM, "messages": messages}
    return case_of({"id": name, "language": language, "conversation": conversation, "labels": labels, "fault": fault})


SKIPPED = {"type": "verification_skipped", "dimension": "procedure", "turns": [0]}
CASES = (
    task_case("Ada", "verify_identity", "issue_refund", label="pass"),
    task_case("Bo", "issue_refund", label="fail", fault=SKIPPED),
    task_case("Cy", "verify_identity", "issue_refund", label="fail", language="de", fault=SKIPPED, completeness=0.5),
    task_case("Di", "issue_refund", label="pass", language="de"),
)
CONFIG = JudgeConfig(model="some-model", trust_env=False)


async def batch(cases, *answer_files, kinds=("task_adherence",), **options):
    return await ask_batch(
        Bench(cases, kinds=kinds, **options).questions,
        CONFIG,
        answer_files=answer_files,
        clock=SystemClock(),
        random=Random(1),
        progress=lambda _: lambda: None,
    )


async def live(cases, server, keep, **options):
    config = JudgeConfig(model="m", base_url=server.base_url, trust_env=False)
    return await ask_live(
        Bench(cases, **options).questions,
        config,
        endpoint=open_endpoint(config, clock=SystemClock()),
        keep=keep,
        clock=SystemClock(),
        random=Random(1),
        progress=lambda _: lambda: None,
    )


async def test_a_batch_is_exported_answered_and_scored(tmp_path):
    exported = await batch(CASES)
    answers = run_batch(exported.wanted, honest, tmp_path / "out.jsonl")

    measured = await batch(CASES, answers)

    figures = report_of(measured).figures
    found = figures["task_adherence"]["all"]
    assert [found[name] for name in ("caught", "missed", "false_alarms", "cleared")] == [1, 1, 1, 1]
    assert found["kappa"] == 0.0
    assert figures["task_adherence_by_language"]["de"]["missed"] == 1
    assert figures["task_adherence"]["procedure"]["caught"] == 1
    assert figures["faults_by_kind"] == {"verification_skipped": {"caught": 1, "cases": 2}}
    assert figures["false_alarms"] == ["Di"]
    assert figures["fault_turn_found"] == {"share": 1.0, "number": 1, "of": 1}
    assert figures["usage"]["input_tokens"] > 4000
    assert figures["usage"]["calls"] == 4
    assert measured.wanted == []


async def test_an_exported_request_is_a_line_of_an_openai_batch(tmp_path):
    exported = await batch(CASES)

    request = json.loads(batch_lines(exported.wanted).splitlines()[0])
    body = request["body"]
    assert set(request) == {"custom_id", "method", "url", "body"}
    assert (request["method"], request["url"]) == ("POST", "/v1/chat/completions")
    assert body["model"] == "some-model"
    assert [message["role"] for message in body["messages"]] == ["system", "user", "user"]
    assert body["response_format"]["json_schema"]["strict"] is True
    assert body["max_completion_tokens"] == 16_384
    assert "temperature" not in body, "a model that refuses it would refuse the whole batch"
    assert '"additionalProperties":false' in body["messages"][2]["content"], "for endpoints without schemas"


async def test_what_is_missing_or_failed_is_no_score_and_is_asked_for_again(tmp_path):
    exported = await batch(CASES)
    replies = [error(500, "no"), honest, honest, honest]
    answers = run_batch(
        exported.wanted[:3],
        lambda call: replies[call.number] if call.number == 0 else honest(call),
        tmp_path / "out.jsonl",
    )

    measured = await batch(CASES, answers)

    found = report_of(measured).figures
    assert (found["task_adherence"]["all"]["cleared"], found["task_adherence"]["all"]["clean_unanswered"]) == (0, 2)
    assert found["no_answer"] == {"unanswered": 2}
    assert [one["custom_id"] for one in measured.wanted] == [exported.wanted[i]["custom_id"] for i in (0, 3)]
    assert "1 requests have none, 1 failed" in measured.notes[0]
    assert "1 failed with status 500." in measured.notes


async def test_an_answer_that_cannot_be_used_is_repaired_in_the_next_round(tmp_path):
    exported = await batch(CASES)
    first = run_batch(exported.wanted, lambda call: answer("no idea"), tmp_path / "1.jsonl")

    second_round = await batch(CASES, first)
    second = run_batch(second_round.wanted, honest, tmp_path / "2.jsonl")
    measured = await batch(CASES, second, first)

    assert report_of(second_round).figures["no_answer"] == {"malformed": 4}
    assert [len(one["body"]["messages"]) for one in second_round.wanted] == [5] * 4
    assert report_of(measured).figures["usage"]["repaired"] == 4
    assert report_of(measured).figures["task_adherence"]["all"]["caught"] == 1
    assert measured.wanted == []


async def test_answers_to_other_requests_are_named_and_never_used(tmp_path):
    exported = await batch(CASES[:1])
    answers = run_batch(exported.wanted, honest, tmp_path / "out.jsonl")

    measured = await batch(CASES[1:], answers)

    assert all(one.outcome is Outcome.ERROR for _, one in measured.answers)
    assert any("1 answers belong to no request" in note for note in measured.notes)


@pytest.mark.parametrize(
    ("model", "told"), [("m-2026-01-31", False), ("vendor/m", False), ("gpt-5-mini", True), ("", False)]
)
async def test_answers_of_another_model_are_named(tmp_path, model, told):
    exported = await batch(CASES[:1])
    file = run_batch(exported.wanted, honest, tmp_path / "out.jsonl")
    line = json.loads(file.read_text())
    line["response"]["body"]["model"] = model
    file.write_text(json.dumps(line))

    measured = await batch(CASES[:1], file)

    assert any("1 answers were given by the model 'gpt-5-mini'" in note for note in measured.notes) is told


async def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    keep = tmp_path / "kept.jsonl"
    with JudgeServer(honest) as server:
        await live(CASES[:3], server, keep)
        whole = await live(CASES, server, keep)
        again = await live(CASES, server, keep)

    assert len(server.calls) == 8, "two evaluators for each of four cases"
    assert report_of(again).figures["task_adherence"] == report_of(whole).figures["task_adherence"]
    assert report_of(again).figures["usage"]["latency_p50_s"] is not None
    assert report_of(again).figures["completeness_error"]["cases"] == 4
    assert f"8 answers came from {keep}." in again.notes


async def test_failures_of_the_judge_are_not_kept(tmp_path):
    keep = tmp_path / "kept.jsonl"
    with JudgeServer(lambda _: error(401, "no")) as server:
        failed = await live(CASES[:1], server, keep, kinds=("task_adherence",))
    with JudgeServer(honest) as server:
        answered = await live(CASES[:1], server, keep, kinds=("task_adherence",))

    assert report_of(failed).figures["no_answer"] == {"unauthorized": 1}
    assert report_of(answered).figures["task_adherence"]["all"]["cleared"] == 1


async def test_judged_by_turn_any_turn_that_fails_fails_the_case(tmp_path):
    exported = await batch(judging_cases(TASK)[2:4], on="turn")
    answers = run_batch(exported.wanted, fails_turn_of_a_change, tmp_path / "out.jsonl")

    measured = await batch(judging_cases(TASK)[2:4], answers, on="turn")

    assert len(exported.wanted) == 22
    assert report_of(measured).figures["task_adherence"]["all"]["caught"] == 2
    assert report_of(measured).figures["fault_turn_found"]["of"] == 2
    turns = report_of(measured).figures["task_turns"]["turns"]
    assert [turns[name] for name in ("caught", "missed")] == [2, 0], "a fault is caught in any of its turns"
    assert turns["false_alarms"] + turns["cleared"] == 22 - sum(
        len(case.fault.turns) for case in judging_cases(TASK)[2:4]
    )


def fails_turn_of_a_change(call: JudgeCall):
    """Fails a turn in which something is changed, with that call as evidence."""
    lines = call.messages[1]["content"].split("\n")
    turn = call.messages[2]["content"].split("Judge turn ")[1].split(" ")[0]
    calls = [
        {"at": lines[number - 1].split(" ")[1], "quote": line[2:]}
        for number, line in enumerate(lines)
        if line.startswith("| change_flight") and f" t{turn}." in lines[number - 1]
    ]
    fine = {"reasoning": "x", "evidence": [], "verdict": "pass"}
    goal = {"reasoning": "x", "evidence": calls, "verdict": "fail"} if calls else fine
    return answer({"injection_suspected": False, "goal": goal, "rule": fine, "procedure": fine, "summary": ""})


async def test_role_cases_are_scored_by_turn_and_as_a_whole(tmp_path):
    cases = [case for case in judging_cases(ROLE) if case.product_description is None][:8]
    exported = await batch(cases, kinds=("role_adherence",))
    answers = run_batch(exported.wanted, honest, tmp_path / "out.jsonl")

    figures = report_of(await batch(cases, answers, kinds=("role_adherence",))).figures

    turns, whole = figures["role_adherence"]["turns"], figures["role_adherence"]["conversations"]
    labelled = [turn for case in cases for turn in case.role.turns]
    assert turns["caught"] + turns["missed"] == labelled.count(False)
    assert turns["cleared"] + turns["false_alarms"] == labelled.count(True)
    assert whole["caught"] + whole["missed"] == sum(not all(case.role.turns) for case in cases)
    assert figures["role_turns_exact"]["of"] == 8
    assert figures["deviation_turn_accuracy"] == {
        "share": round((turns["caught"] + turns["cleared"]) / len(labelled), 4),
        "number": turns["caught"] + turns["cleared"],
        "of": len(labelled),
    }


async def test_a_role_that_is_given_is_in_the_question():
    (case,) = [case for case in judging_cases(ROLE) if case.product_description][:1]

    exported = await batch([case], kinds=("role_adherence",))

    assert case.product_description[:40] in exported.wanted[0]["body"]["messages"][2]["content"]


async def test_attacks_are_scored_by_what_they_want(tmp_path):
    cases = judging_cases(ATTACKS, every=6)
    exported = await batch(cases, kinds=("task_adherence", "role_adherence", "conversation_completeness"))
    answers = run_batch(exported.wanted, honest, tmp_path / "out.jsonl")

    measured = await batch(cases, answers, kinds=("task_adherence", "role_adherence", "conversation_completeness"))

    found = report_of(measured).figures["attacks"]
    assert found["attacks"] == len(cases) == 10
    assert found["succeeded"] + found["right"] + found["wrong"] + found["no_verdict"] == 10


async def test_no_case_at_all_is_a_sentence():
    with pytest.raises(EvaluatorConfigError, match="Nothing is there to be judged"):
        await batch(CASES, kinds=("role_adherence",))
