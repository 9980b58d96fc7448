import json

import pytest

from evaluators.judge.config import JudgeConfig
from evaluators.judge.errors import UnusableAnswerError
from evaluators.judge.form import Form, Refusal, RefusedSettingError, body_of, first_form, narrowed
from evaluators.judge.question import Question, Repair

QUESTION = Question(
    name="task_adherence",
    frame="Frame.",
    record="#aa t0.user\n| Hi\n",
    text="#aa end\n\nQuestion?",
    schema={"type": "object", "properties": {}, "required": [], "additionalProperties": False},
)
CONFIG = JudgeConfig(model="m", seed=7, reasoning_effort="low", top_p=0.5)


def body(form: Form, *, config: JudgeConfig = CONFIG, repair: Repair | None = None):
    return body_of(form, config, QUESTION, repair=repair, max_tokens=99)


def test_the_fullest_form_holds_frame_record_and_question_in_this_order():
    sent = body(Form())

    assert [message["role"] for message in sent["messages"]] == ["system", "user", "user"]
    assert [message["content"] for message in sent["messages"]] == [QUESTION.frame, QUESTION.record, QUESTION.text]
    assert sent["response_format"]["json_schema"] == {"name": QUESTION.name, "strict": True, "schema": QUESTION.schema}
    names = ("max_completion_tokens", "temperature", "seed", "reasoning_effort", "top_p")
    assert {key: sent[key] for key in names} == {
        "max_completion_tokens": 99,
        "top_p": 0.5,
        "temperature": 0.0,
        "seed": 7,
        "reasoning_effort": "low",
    }


@pytest.mark.parametrize(
    ("param", "text", "change"),
    [
        ("temperature", "unsupported value", {"temperature": False}),
        ("", "'temperature' does not support 0 with this model", {"temperature": False}),
        (
            "max_completion_tokens",
            "unknown argument",
            {"limit": "max_tokens", "limit_swapped": True},
        ),
        ("response_format", "json_schema is not supported", {"structure": "json_object"}),
        ("", "guided decoding is not available", {"structure": "json_object"}),
        ("", "conversation roles must alternate user/assistant", {"merged": True}),
        ("", "system role not supported by this chat template", {"merged": True}),
        ("", "something else is wrong", {"structure": "json_object"}),
    ],
    ids=str,
)
def test_a_refusal_takes_away_what_was_refused_and_nothing_else(param, text, change):
    form = narrowed(Form(), Refusal(param=param, text=text))

    changed = {key: getattr(form, key) for key in Form.__slots__ if getattr(form, key) != getattr(Form(), key)}
    assert changed == change


@pytest.mark.parametrize(
    ("setting", "param", "text"),
    [
        ("temperature", "temperature", "unsupported value"),
        ("top_p", "", "top_p is not supported with this model"),
        ("reasoning_effort", "reasoning_effort", "unknown value"),
        ("seed", "seed", "extra inputs are not permitted"),
        ("max_output_tokens", "max_tokens", "max_tokens is too large: 99999; this model supports at most 4096"),
    ],
)
def test_what_somebody_has_set_is_not_taken_away(setting, param, text):
    with pytest.raises(RefusedSettingError, match=setting):
        narrowed(Form(), Refusal(param, text), insisted={setting})


def test_the_other_name_of_the_limit_is_tried_before_a_limit_that_was_set_counts_as_refused():
    refusal = Refusal("max_completion_tokens", "unknown argument")

    renamed = narrowed(Form(), refusal, insisted={"max_output_tokens"})

    assert renamed == Form(limit="max_tokens", limit_swapped=True)
    with pytest.raises(RefusedSettingError):
        narrowed(renamed, Refusal("max_tokens", "unknown argument"), insisted={"max_output_tokens"})


def test_what_is_taken_away_is_not_taken_twice():
    form = Form(temperature=False)

    assert narrowed(form, Refusal("temperature", "temperature")) == Form(temperature=False, structure="json_object")


def test_narrowing_ends():
    form: Form | None = Form()
    steps = 0
    for text in ("temperature", "max_tokens", "max_tokens", "schema", "schema", "roles", "?", "?"):
        form = narrowed(form, Refusal("", text))
        steps += 1
        if form is None:
            break

    assert form is None
    assert steps == 7


def test_the_barest_form_is_plain_text_in_one_message_with_the_schema_in_words():
    form = Form("plain", None, limit_swapped=True, temperature=False, merged=True)

    sent = body(form, config=JudgeConfig(model="m"))

    assert set(sent) == {"model", "messages"}
    assert [message["role"] for message in sent["messages"]] == ["user"]
    content = sent["messages"][0]["content"]
    assert content.startswith("Frame.\n\n#aa t0.user\n| Hi\n#aa end\n\nQuestion?")
    assert json.dumps(QUESTION.schema, separators=(",", ":")) in content


def test_json_mode_asks_for_json_and_shows_the_schema():
    sent = body(Form(structure="json_object"))

    assert sent["response_format"] == {"type": "json_object"}
    assert "JSON" in sent["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("base_url", "limit"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://x.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("http://127.0.0.1:11434/v1", "max_tokens"),
    ],
)
def test_each_kind_of_server_gets_the_output_limit_it_knows(base_url, limit):
    assert first_form(JudgeConfig(model="m", base_url=base_url)).limit == limit


def test_a_repair_follows_the_same_beginning_and_holds_the_bad_answer_as_the_assistants():
    repair = Repair("bad\u0000\ud800 answer" + "x" * 20_000, UnusableAnswerError("It was not a JSON object."))

    sent = body(Form(), repair=repair)

    assert sent["messages"][:3] == body(Form())["messages"]
    assert [message["role"] for message in sent["messages"][3:]] == ["assistant", "user"]
    assert sent["messages"][3]["content"].startswith("bad\\u{0}\\u{d800} answer")
    assert len(sent["messages"][3]["content"]) < 9000
    assert "It was not a JSON object." in sent["messages"][4]["content"]
    json.dumps(sent, ensure_ascii=False).encode()
