"""Tokens of Microsoft Entra for Azure OpenAI: the only file that knows azure-identity.

Its default chain is asked: environment, workload identity, managed identity, developer log-ins.
"""

from __future__ import annotations

from evaluators.errors import EvaluatorConfigError
from evaluators.judge.credential import Token
from evaluators.judge.errors import JudgeError, JudgeErrorType

_SCOPE = "https://cognitiveservices.azure.com/.default"


class EntraTokens:
    def __init__(self) -> None:
        """Raises `EvaluatorConfigError` where azure-identity is not installed."""
        try:
            from azure.identity import DefaultAzureCredential  # noqa: PLC0415 - an extra, and slow to load
        except ImportError as err:
            raise EvaluatorConfigError(
                "judge.azure.credential is token, which needs azure-identity: install adhere with the extra `azure`."
            ) from err
        self._credential = DefaultAzureCredential()

    def fetch(self) -> Token:
        from azure.core.exceptions import AzureError  # noqa: PLC0415 - comes with the import above

        try:
            token = self._credential.get_token(_SCOPE)
        except AzureError as err:
            raise JudgeError(
                JudgeErrorType.UNAUTHORIZED, f"No credential of Azure gave a token ({type(err).__name__})."
            ) from err
        return Token(token.token, token.expires_on * 1_000_000_000)
