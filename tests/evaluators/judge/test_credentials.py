"""Who asks, and where: OpenAI, compatible servers, and Azure OpenAI by key or token."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from pydantic import SecretStr

from evaluators.judge.address import completions_url
from evaluators.judge.config import AzureConfig, JudgeConfig
from evaluators.judge.credential import Token, TokenCredential
from evaluators.judge.entra import EntraTokens
from evaluators.judge.errors import JudgeError, JudgeErrorType
from tests.support.clock import ManualClock
from tests.support.judge_question import GOOD, QUESTION, failure, read
from tests.support.judge_reply import always, answer
from tests.support.judges import scripted_judge

KEY = SecretStr("sk-canary")


@pytest.mark.parametrize(
    ("base_url", "azure", "expected"),
    [
        ("https://api.openai.com/v1", None, "https://api.openai.com/v1/chat/completions"),
        ("http://127.0.0.1:11434/v1/", None, "http://127.0.0.1:11434/v1/chat/completions"),
        ("https://r.example", AzureConfig(), "https://r.example/openai/v1/chat/completions"),
        ("https://r.example/openai/v1/", AzureConfig(), "https://r.example/openai/v1/chat/completions"),
        (
            "https://r.example/",
            AzureConfig(api_version="2024-10-21"),
            "https://r.example/openai/deployments/my%20judge/chat/completions?api-version=2024-10-21",
        ),
        (
            "https://r.example/openai/v1",
            AzureConfig(api_version="2024-10-21"),
            "https://r.example/openai/deployments/my%20judge/chat/completions?api-version=2024-10-21",
        ),
    ],
)
def test_each_provider_is_asked_at_its_own_address(base_url, azure, expected):  # Statement 57.
    assert completions_url(JudgeConfig(model="my judge", base_url=base_url, azure=azure)) == expected


async def test_azure_gets_its_key_in_its_own_header():  # Statement 57.
    azure = AzureConfig(api_version="2024-10-21")
    async with scripted_judge(always(answer(GOOD)), azure=azure, api_key=KEY) as (judge, server):
        await judge.ask(QUESTION, read=read)

    call = server.calls[0]
    assert (call.headers["api-key"], "authorization" in call.headers) == ("sk-canary", False)
    assert call.path == "/openai/deployments/scripted-judge/chat/completions?api-version=2024-10-21"


class Tokens:
    """Gives a token of ten minutes for each fetch."""

    def __init__(self, clock: ManualClock) -> None:
        self.fetched = 0
        self._clock = clock

    def fetch(self) -> Token:
        self.fetched += 1
        return Token(f"token-{self.fetched}", self._clock.now_ns() + 600_000_000_000)


async def test_a_token_is_shared_and_renewed_before_its_end():  # Statement 57.
    clock = ManualClock()
    tokens = Tokens(clock)
    credential = TokenCredential(tokens, clock=clock)

    at_once = await asyncio.gather(*(credential.headers() for _ in range(5)))
    await clock.advance(299)
    before = await credential.headers()
    await clock.advance(1)
    after = await credential.headers()

    assert {headers["authorization"] for headers in [*at_once, before]} == {"Bearer token-1"}
    assert after == {"authorization": "Bearer token-2"}
    assert "token-1" not in repr(tokens.fetch())


async def test_a_judge_sends_the_token_of_its_source():
    tokens = Tokens(ManualClock())
    azure = AzureConfig(credential="token")
    clock = ManualClock()
    async with scripted_judge(always(answer(GOOD)), azure=azure, tokens=tokens, clock=clock) as (judge, server):
        await judge.ask(QUESTION, read=read)

    assert server.calls[0].headers["authorization"] == "Bearer token-1"


async def test_a_source_without_a_token_is_an_error_of_the_judge():
    class Empty:
        def fetch(self) -> Token:
            raise JudgeError(JudgeErrorType.UNAUTHORIZED, "No credential of Azure gave a token.")

    azure = AzureConfig(credential="token")
    async with scripted_judge(always(answer(GOOD)), azure=azure, tokens=Empty()) as (judge, server):
        failed = await failure(judge)

    assert failed.error_type is JudgeErrorType.UNAUTHORIZED
    assert server.calls == []


class _ManagedIdentity(BaseHTTPRequestHandler):
    """The token service of an app at Azure."""

    def do_GET(self) -> None:
        token = {"access_token": "of-azure", "expires_on": "2000000000", "resource": "r", "token_type": "Bearer"}
        body = json.dumps(token).encode()
        self.send_response(200 if self.headers["X-IDENTITY-HEADER"] == "secret" else 403)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_the_chain_of_azure_finds_a_managed_identity(monkeypatch):
    pytest.importorskip("azure.identity", reason="the extra azure is not installed")
    with HTTPServer(("127.0.0.1", 0), _ManagedIdentity) as service:
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"http://127.0.0.1:{service.server_port}/token")
        monkeypatch.setenv("IDENTITY_HEADER", "secret")
        thread = threading.Thread(target=service.handle_request, daemon=True)
        thread.start()
        token = EntraTokens().fetch()
        thread.join()

    assert token == Token("of-azure", 2_000_000_000_000_000_000)
