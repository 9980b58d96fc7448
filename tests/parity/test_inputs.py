"""Statements 1 to 24: what an evaluator takes."""

from __future__ import annotations

import json

import pytest

from evaluators.errors import MissingArgumentError
from evaluators.formats import conversation_from, conversations_from
from evaluators.library import make_evaluator
from evaluators.offline import evaluate_all, jobs_of
from evaluators.pipeline.setup import make_setup
from evaluators.registry import EvaluatorRegistry
from evaluators.verdict import Outcome
from tests.support.clock import ManualClock
from tests.support.conversations import conversation_unit
from tests.support.honest_judge import honest
from tests.support.input_forms import FORMS, Exchange
from tests.support.judge_reply import always
from tests.support.judges import scripted_judge
from tests.support.judging import judging
from tests.support.parity import ORDER_QUERY, ORDER_RESPONSE, ROLE_ZH, ROLE_ZH_REASON, judged, pairs, role_reply
from tests.support.record_reader import read_record
from tests.support.rubrics import rubric_judge

MODEL_EVALUATORS = ["task_adherence", "role_adherence", "conversation_completeness"]


def shown(server, number=0):
    return read_record(server.calls[number].text)


@pytest.mark.parity(1)
@pytest.mark.parametrize("kind", [*MODEL_EVALUATORS, "rules", "intent_resolution", "tool_use"])
async def test_pairs_are_enough_for_every_evaluator(kind):
    script = honest if kind in MODEL_EVALUATORS else rubric_judge()

    verdict, _ = await judged(kind, {"turns": ROLE_ZH}, script)

    assert verdict.outcome in (Outcome.PASS, Outcome.NOT_ASSESSABLE)
    assert verdict.outcome is Outcome.PASS or kind == "tool_use", "which has nothing to say where no tool was called"


@pytest.mark.parity(2, 3)
async def test_the_first_seeds_example_is_scored_as_it_stands_in_its_own_language():
    script = always(role_reply(None, None, summary=ROLE_ZH_REASON))

    verdict, server = await judged("role_adherence", {"turns": ROLE_ZH}, script)

    assert (verdict.score, verdict.reason) == (1.0, ROLE_ZH_REASON)
    assert verdict.details["role_source"] == "user"
    assert shown(server).find("t0.user").content == ROLE_ZH[0]["input"]


@pytest.mark.parity(3)
async def test_a_deviation_is_quoted_in_the_language_of_the_conversation():
    deviation = ("tone", "t1.answer", "收到啦")

    verdict, _ = await judged(
        "role_adherence", {"turns": ROLE_ZH}, always(role_reply(None, deviation, summary="第二轮偏离了角色。"))
    )

    assert (verdict.score, verdict.reason, verdict.evidence[0].quote) == (0.5, "第二轮偏离了角色。", "收到啦")


@pytest.mark.parity(4)
@pytest.mark.parametrize("kind", MODEL_EVALUATORS)
async def test_offline_and_online_give_the_same_verdict(tmp_path, kind):
    conversation = conversation_from(pairs(("You are a pirate.", "Arr."), ("Go on.", "As an AI I cannot.")))
    async with scripted_judge(honest) as (judge, _):
        setup = make_setup(kind, {"on": "conversation"}, registry=EvaluatorRegistry(), judge=judge)
        clock = ManualClock()
        (offline,) = [one async for one in evaluate_all(jobs_of([conversation], [setup]), clock=clock)]
        async with judging(tmp_path, setup) as online:
            await online.pipeline.submit(conversation_unit(conversation))
            await online.pipeline.drain()
            (record,) = (await online.explain(conversation.conversation_id)).decisions

    assert record.verdict is not None
    same = ("id", "outcome", "score", "reason", "evidence", "details")
    assert [getattr(record.verdict, name) for name in same] == [getattr(offline, name) for name in same]


@pytest.mark.parity(5)
async def test_utterances_and_old_test_cases_are_the_same_conversation():
    utterances = {"turns": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    old = {"messages": [{"llm_test_case": {"input": "a", "actual_output": "b"}}]}

    verdicts = [(await judged("conversation_completeness", given))[0] for given in (utterances, old)]

    assert {(verdict.id, verdict.score) for verdict in verdicts} == {(verdicts[0].id, 1.0)}


@pytest.mark.parity(6)
async def test_a_given_role_wins():
    given = {"system": "You are a poet.", **pairs(("You are a pirate.", "Arr."))}

    verdict, server = await judged("role_adherence", given, role="A sober clerk.")

    assert verdict.details["role_source"] == "given"
    assert "The role is given:\n| A sober clerk." in server.calls[0].text


@pytest.mark.parity(7)
async def test_a_missing_argument_is_named_before_the_judge_is_asked():
    async with scripted_judge(honest) as (judge, server):
        with pytest.raises(MissingArgumentError) as caught:
            await make_evaluator("conversation_completeness", judge=judge).evaluate(turns=[{"input": "a"}])

    assert (caught.value.argument, server.calls) == ("turns[0].actual_output", [])


@pytest.mark.parity(8)
@pytest.mark.parametrize("response", ["It is shipped.", [{"role": "assistant", "content": "It is shipped."}]])
@pytest.mark.parametrize("query", ["Where is it?", [{"role": "user", "content": "Where is it?"}]])
async def test_query_and_response_in_every_combination(query, response):
    verdict, server = await judged("task_adherence", {"query": query, "response": response})

    assert verdict.outcome is Outcome.PASS
    assert shown(server).find("t0.user").content == "Where is it?"
    assert shown(server).find("t0.answer").content == "It is shipped."


@pytest.mark.parity(9, 13)
async def test_the_third_seeds_example_is_judged_as_it_stands():
    verdict, server = await judged("task_adherence", {"query": ORDER_QUERY, "response": ORDER_RESPONSE})

    record = shown(server)
    assert verdict.outcome is Outcome.PASS
    assert record.find("system").content == "You are a helpful customer service agent."
    assert record.find("t0.0").content == 'get_order {"order_id": "123"}'
    assert record.find("t0.1").words == "result of t0.0"
    assert record.find("t0.1").content == '{"order": {"id": "123", "status": "shipped"}}'
    assert record.find("t0.answer").content == "Your order #123 has been shipped."


@pytest.mark.parity(10)
@pytest.mark.parametrize(
    ("call", "result"),
    [("tool_call", "tool_result"), ("function_call", "function_call_output"), ("openapi_call", "openapi_call_output")],
)
async def test_flat_calls_of_every_kind(call, result):
    response = [
        {"role": "assistant", "content": [{"type": call, "tool_call_id": "c", "name": "add", "arguments": {"a": 1}}]},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": result, result: {"sum": 2}}]},
        {"role": "assistant", "content": "It is 2."},
    ]

    _, server = await judged("task_adherence", {"query": "Add.", "response": response})

    assert shown(server).find("t0.0").content == 'add {"a": 1}'
    assert (shown(server).find("t0.1").words, shown(server).find("t0.1").content) == ("result of t0.0", '{"sum": 2}')


@pytest.mark.parity(10)
async def test_approvals_reach_the_judge():
    response = [
        {
            "role": "assistant",
            "content": [{"type": "mcp_approval_request", "id": "m", "name": "wipe", "arguments": "{}"}],
        },
        {"role": "user", "content": [{"type": "mcp_approval_response", "approval_request_id": "m", "approve": True}]},
        {"role": "assistant", "content": "Wiped."},
    ]

    _, server = await judged("task_adherence", {"query": "Wipe it.", "response": response})

    assert shown(server).find("t0.0").content == 'mcp_approval_request {"name": "wipe", "arguments": {}}'
    assert shown(server).find("t0.1").content == '{"approve": true}'


@pytest.mark.parity(11)
@pytest.mark.parametrize("form", ["chat", "OpenTelemetry parts"])
async def test_chat_messages_and_opentelemetry_parts(form):
    given = FORMS[form]([Exchange("Where?", "In Oslo.", tool="locate", argument="P-9", result="Oslo")], "A clerk.")

    _, server = await judged("task_adherence", given)

    assert shown(server).find("t0.0").content == 'locate {"value": "P-9"}'
    assert shown(server).find("t0.1").content == "Oslo"


@pytest.mark.parity(12)
async def test_malformed_arguments_are_shown_word_for_word_and_flagged():
    calls = [{"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": 1,'}}]
    given = [
        {"role": "user", "content": "Add."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": "error"},
        {"role": "assistant", "content": "That failed."},
    ]

    verdict, server = await judged("task_adherence", given)

    assert shown(server).find("t0.0").content == 'add\n{"a": 1,'
    assert "malformed_arguments" in verdict.details["flags"]


@pytest.mark.parity(13)
@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("position", [0, 1, 2])
async def test_instructions_reach_the_judge_in_a_place_of_their_own(role, position):
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    messages.insert(position, {"role": role, "content": [{"type": "text", "text": "Be kind."}]})

    _, server = await judged("task_adherence", {"messages": messages})

    assert shown(server).find("system").content == "Be kind."


@pytest.mark.parity(14, 15)
async def test_all_earlier_turns_and_their_calls_reach_the_judge():
    given = FORMS["chat"](
        [
            Exchange(f"question {n}", f"answer {n}", tool="look_up", argument=f"x{n}", result=f"found {n}")
            for n in range(5)
        ],
        "A clerk.",
    )

    _, server = await judged("task_adherence", given)

    record = shown(server)
    for n in range(5):
        assert record.find(f"t{n}.user").content == f"question {n}"
        assert record.find(f"t{n}.0").content == f'look_up {{"value": "x{n}"}}'
        assert record.find(f"t{n}.1").content == f"found {n}"
        assert record.find(f"t{n}.answer").content == f"answer {n}"


@pytest.mark.parity(16)
@pytest.mark.parametrize(
    "definitions",
    [
        [{"name": "add", "description": "Adds."}],
        {"add": {"description": "Adds."}},
        '[{"type": "function", "function": {"name": "add", "description": "Adds."}}]',
        [{"type": "openapi", "name": "sums", "functions": [{"name": "add", "description": "Adds."}]}],
    ],
    ids=["list", "by name", "JSON text", "OpenAPI group"],
)
async def test_tool_definitions_reach_the_judge(definitions):
    _, server = await judged("task_adherence", {"query": "a", "response": "b", "tool_definitions": definitions})

    tool = json.loads(shown(server).find("tools").content)
    assert (tool["name"], tool["description"]) == ("add", "Adds.")


@pytest.mark.parity(17)
async def test_extra_fields_change_nothing():
    plain = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    more = [{**message, "createdAt": "2026-01-01T00:00:00Z", "run_id": "r-1"} for message in plain]

    verdicts = [
        (await judged("task_adherence", given))[0] for given in (plain, {"messages": more, "metadata": {"x": 1}})
    ]

    assert verdicts[0].id == verdicts[1].id


@pytest.mark.parity(18)
async def test_parallel_calls_are_paired_and_what_has_no_pair_is_marked():
    blocks = [{"type": "tool_call", "tool_call_id": n, "name": f"tool_{n}", "arguments": {}} for n in ("a", "b")]
    results = [{"role": "tool", "tool_call_id": n, "content": f"of {n}"} for n in ("b", "z")]
    response = [{"role": "assistant", "content": blocks}, *results, {"role": "assistant", "content": "Done."}]

    verdict, server = await judged("task_adherence", {"query": "Do both.", "response": response})

    record = shown(server)
    assert (record.find("t0.2").words, record.find("t0.2").content) == ("result of t0.1", "of b")
    assert record.find("t0.3").words == "result of a call not in the telemetry"
    assert any("result of t0.0 not in the telemetry" in place.words for place in record.places)
    assert verdict.details["flags"] == ["orphan_result", "tool_result_missing"]


@pytest.mark.parity(19)
@pytest.mark.parametrize("kind", MODEL_EVALUATORS)
@pytest.mark.parametrize("waiting", ["tool_call", "mcp_approval_request"])
async def test_a_response_that_waits_costs_nothing_and_has_no_score(kind, waiting):
    response = [{"role": "assistant", "content": [{"type": waiting, "id": "c", "name": "wipe", "arguments": {}}]}]

    verdict, server = await judged(kind, {"query": "Wipe it.", "response": response})

    assert (verdict.outcome, verdict.error_type, server.calls) == (Outcome.NOT_ASSESSABLE, "incomplete", [])


@pytest.mark.parity(20)
async def test_a_whole_conversation_gives_each_turns_result_and_an_aggregate():
    given = pairs(("You are a pirate.", "Arr."), ("And now?", "As an AI I cannot."), ("Go on.", "Arr again."))
    async with scripted_judge(honest) as (judge, server):
        found = await make_evaluator("role_adherence", judge=judge, on="turn").evaluate_turns(given)

    assert [verdict.score for verdict in found.verdicts] == [1.0, 0.0, 1.0]
    assert (found.score, found.outcome) == (pytest.approx(2 / 3), Outcome.FAIL)
    assert all(shown(server, number).find("t0.user") for number in range(3))


def span(number: int, **attributes: str):
    given = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(
            [{"role": "user", "parts": [{"type": "text", "content": f"question {number}"}]}]
        ),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": f"answer {number}"}], "finish_reason": "stop"}]
        ),
        **attributes,
    }
    return {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "name": "chat m",
        "startTimeUnixNano": str(number * 10**9),
        "endTimeUnixNano": str(number * 10**9 + 1),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in given.items()],
    }


@pytest.mark.parity(21)
@pytest.mark.parametrize("key", ["session.id", "gen_ai.conversation.id"])
async def test_a_session_over_several_traces_is_one_conversation(key):
    spans = [span(number, **{key: "mine"}) for number in (1, 2)]
    document = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}

    (conversation,) = conversations_from(document)
    verdict, server = await judged("conversation_completeness", document)

    assert conversation.conversation_id == verdict.conversation_id == "mine"
    assert [turn.output for turn in conversation.turns] == ["answer 1", "answer 2"]
    assert shown(server).find("t0.user").content == "question 1"


@pytest.mark.parity(22)
@pytest.mark.parametrize("where", ["option", "input"])
async def test_a_product_with_its_limits_is_a_role(where):
    product = {
        "product_description": "A travel assistant.",
        "capabilities": ["Finds flights."],
        "policies": ["Never names a competitor."],
        "inabilities": ["Cannot book."],
    }
    given = pairs(("Book it.", "Arr."))

    _, server = await judged(
        "role_adherence",
        {**given, **product} if where == "input" else given,
        **(product if where == "option" else {}),
    )

    for words in ("A travel assistant.", "Finds flights.", "Never names a competitor.", "Cannot book."):
        assert words in server.calls[0].text


@pytest.mark.parity(23)
async def test_what_a_turn_took_is_kept_returned_and_bounded_by_rules():
    turn = {"input": "a", "actual_output": "b", "latency": 9000, "cost": 0.5, "retrieval_context": ["At nine."]}
    usage = {"usage_info": {"input_tokens": 7, "output_tokens": 3}}
    rule = {"turn": {"latency_s": {"lte": 5}, "cost_usd": {"lte": 1}}}

    slow = await make_evaluator("rules", rules=[rule]).evaluate(turns=[{**turn, **usage}])
    _, server = await judged("task_adherence", {"turns": [turn]})

    assert slow.outcome is Outcome.FAIL
    assert "latency_s" in slow.reason
    assert slow.details["measures"] == {"latency_s": 9.0, "input_tokens": 7, "output_tokens": 3, "cost_usd": 0.5}
    assert "At nine." in server.calls[0].text


@pytest.mark.parity(24)
@pytest.mark.parametrize(
    "block",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
        {"type": "input_audio", "input_audio": {"data": "AA"}},
        {"type": "file", "file": {"file_id": "f"}},
        {"type": "smell", "data": "AA"},
    ],
    ids=["image", "audio", "file", "unknown"],
)
@pytest.mark.parametrize("kind", [*MODEL_EVALUATORS, "rules"])
async def test_what_is_no_text_is_a_placeholder_for_every_evaluator(kind, block):
    answer = [block, {"type": "text", "text": "Seen."}]
    messages = [{"role": "user", "content": [block]}, {"role": "assistant", "content": answer}]

    verdict, server = await judged(kind, messages)

    assert verdict.outcome is Outcome.PASS
    assert not server.calls or shown(server).find("t0.user").content.startswith("[")
