import json
from random import Random

import pytest

from evaluators.errors import EvaluatorConfigError
from evaluators.measuring.labels import labelled, new_labels, read_labels, write_labels
from evaluators.measuring.language import language_of
from evaluators.verdict import UnitKind
from tests.support.conversations import ConversationBuilder, refund_conversation
from tests.support.evaluators import ScriptedEvaluator

TURNS = ScriptedEvaluator(name="task_adherence")
WHOLE = ScriptedEvaluator(name="role_adherence", unit_kind=UnitKind.CONVERSATION)


def conversations(number):
    return [refund_conversation(verified=True, conversation_id=f"c{index}") for index in range(number)]


def test_a_sample_has_one_unit_of_each_conversation_with_something_to_judge():
    empty = ConversationBuilder("empty").turn(None).build()

    found = new_labels([empty, *conversations(9)], TURNS, number=5, random=Random(1))

    assert len({one.unit.conversation.conversation_id for one in found}) == 5
    assert {one.unit.turn_index for one in found} == {0, 1}, "any turn may be in it"
    assert all(one.label is None and one.language == "en" for one in found)


def test_labels_survive_the_way_to_the_file_and_back(tmp_path):
    path = tmp_path / "labels.jsonl"
    units = new_labels(conversations(2), WHOLE, number=2, random=Random(1))
    units[0] = labelled(units[0], "fail", "It refunded \ud800 first.")

    write_labels(path, units)

    assert read_labels(path) == units
    assert path.stat().st_mode & 0o777 == 0o600, "it holds people's words"


def test_a_person_may_fill_the_file_in_with_an_editor(tmp_path):
    path = tmp_path / "labels.jsonl"
    write_labels(path, new_labels(conversations(2), TURNS, number=2, random=Random(1)))
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    rows[0] |= {"label": " Pass ", "language": "fr"}
    rows[1] |= {"label": ""}
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n")

    first, second = read_labels(path)

    assert (first.label, first.language, second.label) == ("pass", "fr", None)
    assert rows[0]["question"].startswith("Did the agent do what was asked")
    assert "refund" in rows[0]["text"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param({"label": "good"}, "line 1 has the label 'good'; known are pass, fail, unsure", id="label"),
        pytest.param({"label": 3}, "has the label '3'", id="number"),
        pytest.param({"unit": {}}, "is no unit to label", id="no unit"),
        pytest.param({"unit": {"kind": "owl"}}, "is no unit to label", id="another unit"),
    ],
)
def test_what_does_not_hold_is_named_with_its_line(tmp_path, change, problem):
    path = tmp_path / "labels.jsonl"
    write_labels(path, new_labels(conversations(1), TURNS, number=1, random=Random(1)))
    path.write_text(json.dumps(json.loads(path.read_bytes()) | change))

    with pytest.raises(EvaluatorConfigError, match=problem):
        read_labels(path)


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path):
    with pytest.raises(EvaluatorConfigError, match="cannot be read"):
        read_labels(tmp_path / "none")
    with pytest.raises(EvaluatorConfigError, match="cannot be written"):
        write_labels(tmp_path / "none" / "labels.jsonl", [])


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Please refund my order, it is not what I ordered.", "en"),
        ("Bitte verlängern Sie mein Buch, ich brauche es noch.", "de"),
        ("Bonjour, je voudrais poser trois jours pour le pont.", "fr"),
        ("Hola, quiero una habitación doble para el puente.", "es"),
        ("Olá, não quero o quarto, é para a minha mãe.", "pt"),
        ("Ciao, vorrei una stanza per la mia famiglia.", "it"),
        ("Graag wil ik dat boek met de post, dank u.", "nl"),
        ("請幫我續借這本書 thanks", "zh"),
        ("4月8日の午前でお願いします", "ja"),
        ("책을 연장해 주세요", "ko"),
        ("कृपया पुस्तक की अवधि बढ़ा दीजिए", "hi"),
        ("من فضلك مدد الإعارة", "ar"),
        ("Продлите, пожалуйста, книгу", "ru"),
        ("5521 !!", "-"),
        ("", "-"),
        ("Xyzzy plugh", "-"),
    ],
)
def test_the_language_is_guessed(text, language):
    assert language_of(text) == language
