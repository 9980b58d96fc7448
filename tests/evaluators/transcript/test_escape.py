import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.transcript.escape import escape, has_live_signs


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
        pytest.param("a\u200bb\U000e0041", "a\\u{200b}b\\u{e0041}", id="invisible"),
    ],
)
def test_what_a_server_may_take_for_a_boundary_is_broken_up(text, shown):
    assert escape(text) == shown
    assert has_live_signs(text)


@pytest.mark.parametrize(
    "text", ["a < b | c > d", "<span>x</span>", "[INSTALL]", "x = [1, 2]", "a <- b", "if (a<|b|)", "नमस्ते 👩\u200d🌾"]
)
def test_other_text_stays_as_it_is(text):
    assert escape(text) == text
    assert not has_live_signs(text)


@given(st.text(alphabet=st.sampled_from("<|>/[]sINT _\u200b\uff5c\\u{3c}"), max_size=60))
@settings(max_examples=200, deadline=None)
def test_what_is_shown_has_nothing_live_and_is_shown_the_same_again(text):
    shown = escape(text)

    assert not has_live_signs(shown)
    assert escape(shown) == shown
