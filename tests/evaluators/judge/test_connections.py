import asyncio

import httpx2

from evaluators.judge.connections import Connections
from tests.support.judge_reply import always, answer
from tests.support.judge_server import JudgeServer


def connections_to(made, *, at_once):
    def client(limits):
        made.append(limits.max_connections)
        return httpx2.AsyncClient(limits=limits, trust_env=False)

    return Connections(at_once, client=client)


async def post(connections, server, times):
    url = httpx2.URL(f"{server.base_url}/chat/completions")
    return await asyncio.gather(*(connections.post(url, content=b"{}", headers={}) for _ in range(times)))


async def test_pools_are_made_as_they_are_needed_and_hold_what_was_asked_for():
    made = []
    connections = connections_to(made, at_once=20)
    with JudgeServer(always(answer("fine", latency_s=0.02))) as server:
        await post(connections, server, 3)
        after_few = list(made)
        answers = await post(connections, server, 60)
        peak = server.in_flight_peak
        await connections.close()

    assert (after_few, made) == ([8], [8, 8, 4])
    assert {reply.status_code for reply in answers} == {200}
    assert peak <= 20
