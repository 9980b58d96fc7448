from __future__ import annotations

from collector.assembly.tree import MAX_DEPTH, build_forest, live
from collector.operation import OperationKind
from tests.support.genai_spans import asks, chat, read_all, span


def test_cycles_are_cut_and_every_span_stays() -> None:
    items = [
        span("own", {}, parent="own"),
        span("a", {}, at=1, parent="b"),
        span("b", {}, at=2, parent="c"),
        span("c", {}, at=3, parent="b"),
    ]

    nodes = build_forest(read_all(items))

    assert len(nodes) == 4
    assert all(len(list(node.ancestors())) < 4 for node in nodes)


def test_depth_is_bounded() -> None:
    items = [span(str(n), {}, at=n, parent=str(n - 1) if n else "") for n in range(MAX_DEPTH * 3)]

    nodes = build_forest(read_all(items))

    assert max(len(list(node.ancestors())) for node in nodes) == MAX_DEPTH
    assert sum(node.parent is None for node in nodes) == 1


def test_a_model_call_with_several_under_it_is_a_loop() -> None:
    items = [
        span("loop", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}, lasts=50),
        span("one", chat([asks("a")], "b"), at=1, parent="loop"),
        span("two", chat([asks("c")], "d"), at=10, parent="loop"),
    ]

    nodes = live(build_forest(read_all(items)))

    assert [node.kind for node in nodes] == [OperationKind.AGENT, OperationKind.MODEL_CALL, OperationKind.MODEL_CALL]


def test_the_provider_span_of_a_call_is_the_call() -> None:
    bare = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.response.id": "resp-1"}
    items = [
        span("framework", chat([asks("a")], "b"), lasts=50, scope="framework"),
        span("http", {}, at=1, lasts=40, parent="framework"),
        span("provider", bare, at=2, lasts=30, parent="http", scope="provider"),
    ]

    (call, http) = live(build_forest(read_all(items)))

    assert call.operation.response_id == "resp-1"
    assert http.kind is OperationKind.OTHER
