import pytest
from pydantic import SecretStr

from evaluators.errors import EvaluatorConfigError
from evaluators.judge.config import JudgeConfig
from evaluators.judge.prices import LIST_PRICES, Price, cost_usd, price_of


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": " "}, "has no model"),
        ({"base_url": "localhost:1234"}, "no http or https URL"),
        ({"base_url": "file:///etc/passwd"}, "no http or https URL"),
        ({"base_url": "https://user:s3cret@judge.example/v1"}, "put the key into judge.api_key"),
        ({"base_url": "ftp://user:s3cret@judge.example/v1"}, "no http or https URL"),
        ({"base_url": "http://127.0.0.1:80 80/v1"}, "holds a space or an unprintable sign: remove it"),
        ({"base_url": "http://judge.example/v1\n"}, "holds a space or an unprintable sign: remove it"),
        ({"base_url": "http://judge.example:99999/v1"}, "no http or https URL"),
        ({"base_url": "http://judge.example/v1?api-version=1"}, "holds a query"),
        ({"headers": {"x-team": "s3cret\r\nx-other: 1"}}, "value of the header x-team has characters"),
        ({"headers": {"x team": "s3cret"}}, "header name 'x team' is not valid"),
        ({"api_key": SecretStr("s3cret\n")}, "the line end of a file: give the key alone"),
        ({"api_key": SecretStr("s3cret-schlüssel")}, "characters that no key has"),
        ({"temperature": 3}, "temperature is 3 and must be from 0 to 2"),
        ({"top_p": -0.1}, "top_p is -0.1 and must be from 0 to 1"),
        ({"max_output_tokens": 0}, "max_output_tokens is 0 and must be at least 1"),
        ({"deadline_s": 0}, "deadline_s is 0 and must be above 0"),
        ({"deadline_s": float("nan")}, "deadline_s is nan"),
        ({"max_concurrency": 0}, "max_concurrency is 0 and must be at least 1"),
        ({"max_record_tokens": 10}, "must be at least 1000"),
    ],
    ids=str,
)
def test_a_senseless_configuration_is_refused_in_one_sentence(changes, message):
    with pytest.raises(EvaluatorConfigError, match=message) as raised:
        JudgeConfig(**{"model": "m", **changes})

    assert "s3cret" not in str(raised.value)


def test_the_key_does_not_show():
    config = JudgeConfig(model="m", api_key=SecretStr("sk-canary"))

    assert "sk-canary" not in repr(config)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-5-mini", LIST_PRICES["gpt-5-mini"]),
        ("gpt-5-mini-2025-08-07", LIST_PRICES["gpt-5-mini"]),
        ("house-model", Price(1, 2)),
        ("gpt-4o", Price(9, 9)),
        ("llama3.1:8b", None),
        ("gpt-5-mini-tuned", None),
    ],
)
def test_prices_go_by_name_and_snapshot_and_configuration_wins(model, expected):
    overrides = {"house-model": Price(1, 2), "gpt-4o": Price(9, 9)}

    assert price_of(model, overrides=overrides, list_prices=LIST_PRICES) == expected


def test_cached_tokens_are_billed_at_their_own_price():
    price = Price(input=2.0, output=8.0, cached_input=0.5)

    cost = cost_usd(price, input_tokens=1_000_000, cached_input_tokens=400_000, output_tokens=250_000)

    assert cost == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.25 * 8)
