import json
from random import Random

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from evaluators.errors import EvaluatorConfigError
from evaluators.evaluator import Judgement
from evaluators.measuring.calibrating import Labelled, add_calibration, best_threshold, calibrate, usable
from evaluators.measuring.calibration import Calibrations, lines_about, read_calibrations, stored_calibrations
from evaluators.measuring.calibration_metrics import show_calibrations
from evaluators.measuring.labels import labelled, new_labels
from evaluators.measuring.report import Report
from evaluators.verdict import JudgeInfo, Outcome
from tests.support.conversations import refund_conversation
from tests.support.evaluators import ScriptedEvaluator
from tests.support.verdicts import verdict

EVALUATOR = ScriptedEvaluator(name="task_adherence", judge_name="judge-1")
(UNIT,) = new_labels([refund_conversation(verified=True)], EVALUATOR, number=1, random=Random(1))
ERROR = Judgement(Outcome.ERROR, error_type="timeout")


def pairs(*said):
    """(label, score): passed from a half on; a score of None is an error."""
    found = []
    for label, score in said:
        outcome = Outcome.PASS if score is not None and score >= 0.5 else Outcome.FAIL
        judgement = ERROR if score is None else Judgement(outcome, score=score)
        found.append(Labelled(labelled(UNIT, label), judgement))
    return found


def several(caught=8, missed=2, false_alarms=1, cleared=9):
    counts = {("fail", 0.0): caught, ("fail", 1.0): missed, ("pass", 0.0): false_alarms, ("pass", 1.0): cleared}
    return pairs(*(said for said, count in counts.items() for _ in range(count)))


def one(**counts):
    return calibrate(several(**counts), EVALUATOR, now_ns=7)


def verdicts(failed, passed, **changes):
    about = {"evaluator": "task_adherence", "evaluator_version": "1", "rubric_version": "r1"}
    about |= {"judge": JudgeInfo(name="judge-1"), **changes}
    return [
        *(verdict(f"f{n}", outcome=Outcome.FAIL, score=0.0, **about) for n in range(failed)),
        *(verdict(f"p{n}", outcome=Outcome.PASS, score=1.0, **about) for n in range(passed)),
        verdict("e", outcome=Outcome.ERROR, score=None, **about),
    ]


def test_agreement_is_counted_and_errors_are_no_score():
    report = Report()

    add_calibration(report, [*several(), *pairs(("fail", None))])

    found = report.figures["agreement"]["all"]
    assert (found["caught"], found["missed"], found["false_alarms"], found["cleared"]) == (8, 2, 1, 9)
    assert (found["faulty_unanswered"], found["sensitivity"], found["specificity"]) == (1, 0.8, 0.9)
    assert found["kappa"] == 0.7
    assert report.figures["agreement"]["en"] == found
    assert [table.title for table in report.tables] == ["Agreement with people, in all and by language", "Confusion"]


def test_the_best_threshold_lies_between_the_scores_that_part_the_labels():
    threshold, found = best_threshold(
        pairs(("fail", 0.2), ("fail", 0.6), ("fail", 0.7), ("pass", 0.8), ("pass", 0.9), ("pass", 1.0), ("fail", None))
    )

    assert threshold == pytest.approx(0.75)
    assert (found.sensitivity, found.specificity) == (1.0, 1.0)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param([("fail", 0.0), ("pass", 1.0)], id="two scores"),
        pytest.param([("fail", 0.0), ("fail", 0.5), ("fail", 1.0)], id="one label"),
        pytest.param([], id="nothing"),
    ],
)
def test_no_threshold_is_found_where_there_is_none_to_find(said):
    assert best_threshold(pairs(*said)) is None


def test_what_is_kept_is_found_again_for_the_same_evaluator_rubric_and_judge(tmp_path):
    path = tmp_path / "calibration.json"
    Calibrations().with_one(one(caught=1)).with_one(one()).write(path)

    known = read_calibrations(path)

    assert known.of_evaluator(EVALUATOR) == one()
    assert known.of_evaluator(ScriptedEvaluator(name="task_adherence", rubric_version="r2")) is None
    assert known.of_evaluator(ScriptedEvaluator(name="task_adherence", judge_name="judge-2")) is None
    assert len(json.loads(path.read_bytes())) == 1


@pytest.mark.parametrize("body", ["", "{", "[1]", '[{"evaluator": "x"}]', "{}"])
def test_a_file_that_is_none_of_ours_ends_no_report(tmp_path, body):
    path = tmp_path / "calibration.json"
    path.write_text(body)

    assert read_calibrations(path).of_evaluator(EVALUATOR) is None
    assert read_calibrations(tmp_path / "none").of_evaluator(EVALUATOR) is None
    with pytest.raises(EvaluatorConfigError, match="move it away"):
        stored_calibrations(path)
    assert path.read_text() == body


def test_reports_say_how_good_the_judge_is_and_take_its_errors_out():
    known = Calibrations([one()])

    (line,) = lines_about(verdicts(failed=31, passed=69), known)

    assert line == (
        "task_adherence by judge-1, measured on 20 labels: kappa 0.70, sensitivity 0.80, specificity 0.90. "
        "Failed 31%; 30% after the judge's known errors."
    )


def test_reports_say_nothing_about_another_rubric():
    known = Calibrations([one()])

    assert lines_about(verdicts(3, 3, rubric_version="r2"), known) == []


def test_the_metrics_show_what_is_known_about_the_judges_in_use():
    registry = CollectorRegistry()

    show_calibrations(registry, [EVALUATOR, ScriptedEvaluator(name="other")], Calibrations([one()]))

    page = generate_latest(registry).decode()
    labels = 'evaluator="task_adherence",judge="judge-1",measure="{}",rubric_version="r1"'
    assert f"adhere_judge_calibration{{{labels.format('sensitivity')}}} 0.8" in page
    assert f"adhere_judge_calibration{{{labels.format('labels')}}} 20.0" in page
    assert "other" not in page


def test_only_labels_that_decide_are_used_and_of_one_evaluator_only():
    other = labelled(
        new_labels([refund_conversation(verified=None)], ScriptedEvaluator(), number=1, random=Random(1))[0], "pass"
    )

    assert usable([UNIT, labelled(UNIT, "unsure"), labelled(UNIT, "fail")]) == [labelled(UNIT, "fail")]
    with pytest.raises(EvaluatorConfigError, match="No unit has the label"):
        usable([UNIT, labelled(UNIT, "unsure")])
    with pytest.raises(EvaluatorConfigError, match="about scripted and task_adherence"):
        usable([labelled(UNIT, "fail"), other])
