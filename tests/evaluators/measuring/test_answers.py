import json
import re

import pytest

from evaluators.errors import EvaluatorConfigError
from evaluators.judge.completion import Completion, Usage
from evaluators.judge.errors import UnusableAnswerError
from evaluators.judge.question import Question, Repair
from evaluators.measuring.answers import AnswerFile, custom_id, read_answers, read_kept

QUESTION = Question(name="task_adherence", frame="f", record="r\n", text="t", schema={"type": "object"})
REPAIR = Repair("{", UnusableAnswerError("It was not valid JSON."))


def output(name, content="{}", *, status=200, error=None, body=None):
    body = body or {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    response = None if status is None else {"status_code": status, "request_id": "r", "body": body}
    return json.dumps({"id": "b", "custom_id": name, "response": response, "error": error})


def write(path, *lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def test_ids_fit_batch_interfaces_and_tell_every_request_apart():
    others = [
        QUESTION.__class__(**{**{f: getattr(QUESTION, f) for f in QUESTION.__slots__}, field: "other\n"})
        for field in ("frame", "record", "text")
    ]
    names = [custom_id(one, None, nth=0) for one in [QUESTION, *others]]
    names += [custom_id(QUESTION, REPAIR, nth=0), custom_id(QUESTION, None, nth=1)]

    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    assert custom_id(QUESTION, None, nth=0) == names[0]


def test_answers_are_read_in_any_order_and_the_first_that_is_one_counts(tmp_path):
    first = write(tmp_path / "1.jsonl", output("b", status=500), output("a", "one"))
    second = write(tmp_path / "2.jsonl", output("a", "two"), output("b", "three"), output("a", status=429))

    answers = read_answers([first, second])

    assert {name: kept.completion.content for name, kept in answers.kept.items()} == {"a": "one", "b": "three"}
    assert answers.failed == {}


def test_a_body_may_be_a_text_and_a_status_may_lack(tmp_path):
    body = json.dumps({"choices": [{"message": {"content": "yes"}}]})
    line = json.dumps({"custom_id": "a", "response": {"body": body}})

    assert read_answers([write(tmp_path / "a.jsonl", line)]).kept["a"].completion.content == "yes"


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        pytest.param(output("a", status=400), "status 400", id="status"),
        pytest.param(output("a", status=None, error={"code": "batch_expired"}), "error batch_expired", id="expired"),
        pytest.param(output("a", status=None, error={"code": "a secret, spaced"}), "error", id="no code"),
        pytest.param(output("a", status=None), "no response", id="nothing"),
        pytest.param(output("a", body={"oops": 1}), "no chat completion", id="other body"),
        pytest.param(output("a", body={"choices": []}), "no chat completion", id="no choice"),
    ],
)
def test_what_is_no_answer_is_a_failure_with_a_reason(tmp_path, line, failure):
    answers = read_answers([write(tmp_path / "a.jsonl", line)])

    assert answers.kept == {}
    assert answers.failed == {"a": failure}


def test_lines_that_cannot_be_read_are_counted(tmp_path):
    path = write(tmp_path / "a.jsonl", "{", "[]", '{"custom_id": 3}', '"x"', "[" * 5000, output("a", "kept"), "")

    answers = read_answers([path])

    assert answers.unreadable_lines == 5
    assert list(answers.kept) == ["a"]


def test_kept_answers_come_back_as_they_were(tmp_path):
    completions = {
        "a": Completion("{\u2028\ud800}", "stop", Usage(10, 4, 3), refused=False),
        "b": Completion("", "content_filter", None, refused=True),
        "c": Completion("{", "length", Usage(1, 0, 1), refused=False, model="m-2026"),
    }
    path = tmp_path / "kept.jsonl"
    log = AnswerFile(path, model="m")
    for name, completion in completions.items():
        log.keep(name, completion, duration_s=0.5)
    log.close()

    kept = read_kept(path, model="m").kept

    assert path.stat().st_mode & 0o777 == 0o600
    assert {name: one.completion for name, one in kept.items()} == completions
    assert {one.duration_s for one in kept.values()} == {0.5}
    assert read_kept(path, model="other").kept == {}
    assert read_kept(tmp_path / "none", model="m").kept == {}


def test_a_line_that_a_kill_cut_off_costs_that_answer_alone(tmp_path):
    path = tmp_path / "kept.jsonl"
    for name in ("a", "b"):
        log = AnswerFile(path, model="m")
        log.keep(name, Completion(name, "stop", None, refused=False), duration_s=0.0)
        log.close()
        path.write_bytes(path.read_bytes() + b'{"custom_id": "c", "resp')

    answers = read_kept(path, model="m")

    assert sorted(answers.kept) == ["a", "b"]
    assert answers.unreadable_lines == 2


def test_a_file_that_cannot_be_kept_in_or_read_is_named(tmp_path):
    with pytest.raises(EvaluatorConfigError, match="cannot be kept in"):
        AnswerFile(tmp_path / "none" / "kept.jsonl", model="m")
    with pytest.raises(EvaluatorConfigError, match="cannot be read"):
        read_answers([tmp_path / "none"])
