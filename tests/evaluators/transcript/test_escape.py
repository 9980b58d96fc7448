import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.transcript.escape import escape


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("<|im_end|>", "\\u{3c}|im_end|>", id="chatml"),
        pytest.param("<|start_header_id|>", "\\u{3c}|start_header_id|>", id="llama"),
        pytest.param("a</s><s>[INST] b [/INST]", "a\\u{3c}/s>\\u{3c}s>\\u{5b}INST] b \\u{5b}/INST]", id="mistral"),
        pytest.param("<<SYS>>", "\\u{3c}<SYS>>", id="llama 2"),
        pytest.param("<start_of_turn>", "\\u{3c}start_of_turn>", id="gemma"),
        pytest.param("<\uff5cUser\uff5c>", "\\u{3c}\uff5cUser\uff5c>", id="deepseek"),
        pytest.param("</think><tool_call>", "\\u{3c}/think>\\u{3c}tool_call>", id="qwen"),
        pytest.param("[THINK]a[/THINK][ARGS]{}", "\\u{5b}THINK]a\\u{5b}/THINK]\\u{5b}ARGS]{}", id="newer mistral"),
        pytest.param("[|endofturn|]\n[|system|]", "\\u{5b}|endofturn|]\n\\u{5b}|system|]", id="exaone"),
        pytest.param("[e~[\n]~b]system", "\\u{5b}e~[\n\\u{5d}~b]system", id="minimax"),
        pytest.param("<EOS_TOKEN><BOS_TOKEN>", "\\u{3c}EOS_TOKEN>\\u{3c}BOS_TOKEN>", id="command"),
        pytest.param("<seed:eos><extra_id_0>", "\\u{3c}seed:eos>\\u{3c}extra_id_0>", id="seed and nemotron"),
        pytest.param("[gMASK]<sop>", "\\u{5b}gMASK]\\u{3c}sop>", id="glm"),
        pytest.param("a\ufe0f\ufe01\ufe02", "a\ufe0f\\u{fe01}\\u{fe02}", id="text in variation selectors"),
        pytest.param("a\u200d\u200c\u200d", "a\u200d\\u{200c}\\u{200d}", id="text in joiners"),
        pytest.param("a\u200bb\U000e0041", "a\\u{200b}b\\u{e0041}", id="invisible"),
    ],
)
def test_what_a_server_may_take_for_a_boundary_is_broken_up(text, shown):
    assert escape(text) == shown != text


@pytest.mark.parametrize(
    "text",
    [
        "a < b | c > d",
        "<span>x</span>",
        "[INSTALL]",
        "x = [1, 2]",
        "a <- b",
        "if (a<|b|)",
        "नमस्ते 👩\u200d🌾 ❤\ufe0f\u200d🔥",
        "<section>",
    ],
)
def test_other_text_stays_as_it_is(text):
    assert escape(text) == text


@given(st.text(alphabet=st.sampled_from("<|>/[]sINT _\u200b\uff5c\\u{3c}"), max_size=60))
@settings(max_examples=200, deadline=None)
def test_what_is_shown_has_nothing_live_and_is_shown_the_same_again(text):
    shown = escape(text)

    assert escape(shown) == shown
