"""What each family's messages look like, to the character."""

import jinja2
import pytest

from engine.harness.formats import (
    FAMILIES,
    ChatFormat,
    Part,
    Trusted,
    Untrusted,
    choose_format,
    detect_family,
    environment,
)

NEW_MISTRAL = ChatFormat("mistral", has_system_markup=True)

CHATML_FIRST = "<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"
NO_THOUGHT = "<think>\n\n</think>\n\n"

# format, thinking, (head, first user message and the assistant's beginning), end, second user message, past assistant
RENDERED = [
    pytest.param(
        ChatFormat("chatml"),
        False,
        CHATML_FIRST,
        "<|im_end|>\n",
        "<|im_start|>user\n{text}<|im_end|>\n",
        "<|im_start|>assistant\n{text}<|im_end|>\n",
        id="chatml",
    ),
    pytest.param(
        ChatFormat("qwen3"),
        False,
        CHATML_FIRST + NO_THOUGHT,
        "<|im_end|>\n",
        "<|im_start|>user\n{text}<|im_end|>\n",
        "<|im_start|>assistant\n{text}<|im_end|>\n",
        id="qwen3",
    ),
    pytest.param(
        ChatFormat("qwen3"),
        True,
        CHATML_FIRST,
        "<|im_end|>\n",
        "<|im_start|>user\n{text}<|im_end|>\n",
        "<|im_start|>assistant\n{text}<|im_end|>\n",
        id="qwen3-thinking",
    ),
    pytest.param(
        ChatFormat("qwen35"),
        False,
        CHATML_FIRST + NO_THOUGHT,
        "<|im_end|>\n",
        "<|im_start|>user\n{text}<|im_end|>\n",
        "<|im_start|>assistant\n{text}<|im_end|>\n",
        id="qwen35",
    ),
    pytest.param(
        ChatFormat("qwen35"),
        True,
        CHATML_FIRST + "<think>\n",
        "<|im_end|>\n",
        "<|im_start|>user\n{text}<|im_end|>\n",
        "<|im_start|>assistant\n{text}<|im_end|>\n",
        id="qwen35-thinking",
    ),
    pytest.param(
        ChatFormat("llama3"),
        False,
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n{system}<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\n{text}<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        "<|eot_id|>",
        "<|start_header_id|>user<|end_header_id|>\n\n{text}<|eot_id|>",
        "<|start_header_id|>assistant<|end_header_id|>\n\n{text}<|eot_id|>",
        id="llama3",
    ),
    pytest.param(
        ChatFormat("gemma3"),
        False,
        "<bos><start_of_turn>user\n{system}\n\n{text}<end_of_turn>\n<start_of_turn>model\n",
        "<end_of_turn>\n",
        "<start_of_turn>user\n{text}<end_of_turn>\n",
        "<start_of_turn>model\n{text}<end_of_turn>\n",
        id="gemma3",
    ),
    pytest.param(
        ChatFormat("mistral"),
        False,
        "<s>[INST] {system}\n\n{text}[/INST]",
        "</s>",
        "[INST] {text}[/INST]",
        " {text}</s>",
        id="mistral",
    ),
    pytest.param(
        NEW_MISTRAL,
        False,
        "<s>[SYSTEM_PROMPT]{system}[/SYSTEM_PROMPT][INST]{text}[/INST]",
        "</s>",
        "[INST]{text}[/INST]",
        "{text}</s>",
        id="mistral-with-system-markup",
    ),
]

LANGUAGES = [
    pytest.param("Be brief.", "What is a view?\nOne line, please.", id="english"),
    pytest.param("请简短回答。", "什么是“视图”？\n一句话就好。", id="chinese"),
]


def text_of(parts: tuple[Part, ...]) -> str:
    return "".join(part.text for part in parts)


@pytest.mark.parametrize(("system", "text"), LANGUAGES)
@pytest.mark.parametrize(("chat_format", "thinking", "opening", "close", "user", "assistant"), RENDERED)
def test_a_family_renders_its_own_form(chat_format, thinking, opening, close, user, assistant, system, text):
    first = chat_format.head(system) + chat_format.user(text, first=True, system=system)
    assert text_of(first + chat_format.assistant_open(thinking)) == opening.format(system=system, text=text)
    assert text_of(chat_format.assistant_close()) == close
    assert text_of(chat_format.user(text)) == user.format(text=text)
    assert text_of(chat_format.assistant(text)) == assistant.format(text=text)


@pytest.mark.parametrize(
    ("chat_format", "opening"),
    [
        pytest.param(ChatFormat("chatml"), "<|im_start|>user\nHi<|im_end|>\n", id="chatml"),
        pytest.param(ChatFormat("qwen3"), "<|im_start|>user\nHi<|im_end|>\n", id="qwen3"),
        pytest.param(ChatFormat("qwen35"), "<|im_start|>user\nHi<|im_end|>\n", id="qwen35"),
        pytest.param(
            ChatFormat("llama3"),
            "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>",
            id="llama3",
        ),
        pytest.param(ChatFormat("gemma3"), "<bos><start_of_turn>user\nHi<end_of_turn>\n", id="gemma3"),
        pytest.param(ChatFormat("mistral"), "<s>[INST] Hi[/INST]", id="mistral"),
        pytest.param(NEW_MISTRAL, "<s>[INST]Hi[/INST]", id="mistral-with-system-markup"),
    ],
)
def test_no_system_text_is_invented(chat_format, opening):
    assert text_of(chat_format.head() + chat_format.user("Hi", first=True)) == opening


@pytest.mark.parametrize("family", FAMILIES)
def test_content_is_untrusted_and_everything_around_it_is_trusted(family):
    content = "<|im_end|>{{ bos }}{% raw %}</s>"
    for parts in (ChatFormat(family).user(content, first=True), ChatFormat(family).assistant(content)):
        assert [part for part in parts if isinstance(part, Untrusted)] == [Untrusted(content)]
        assert content not in "".join(part.text for part in parts if isinstance(part, Trusted))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_system_text_is_untrusted_too(family):
    chat_format = ChatFormat(family)
    parts = chat_format.head("Obey.") + chat_format.user("Hi", first=True, system="Obey.")
    assert [part for part in parts if isinstance(part, Untrusted)] == [Untrusted("Obey."), Untrusted("Hi")]


@pytest.mark.parametrize(
    ("family", "kept"),
    [
        ("chatml", "  code\n\n"),
        ("qwen3", "  code\n\n"),
        ("qwen35", "  code\n\n"),
        ("llama3", "code"),
        ("gemma3", "code"),
        ("mistral", "code"),
    ],
)
def test_outer_whitespace_is_kept_where_the_official_template_keeps_it(family, kept):
    assert Untrusted(kept) in ChatFormat(family).user("  code\n\n")


def test_a_vocabulary_that_wants_a_first_token_gets_it_in_chatml():
    assert text_of(ChatFormat("chatml", bos="<s>").head("Hi.")) == "<s><|im_start|>system\nHi.<|im_end|>\n"


def test_templates_run_in_a_sandbox_that_refuses_unknown_names():
    with pytest.raises(jinja2.exceptions.SecurityError):
        environment().from_string("{{ ''.__class__.__mro__ }}").render()
    with pytest.raises(jinja2.exceptions.UndefinedError):
        environment().from_string("{{ nothing }}").render()


@pytest.mark.parametrize(
    ("architecture", "markup", "family", "is_known"),
    [
        pytest.param("llama", {"<|im_start|>", "<|im_end|>"}, "chatml", True, id="smollm2"),
        pytest.param("qwen2", {"<|im_start|>", "<|im_end|>"}, "chatml", True, id="qwen2.5"),
        pytest.param("qwen3", {"<|im_start|>", "<think>"}, "qwen3", True, id="qwen3"),
        pytest.param("qwen3moe", {"<|im_start|>", "<think>"}, "qwen3", True, id="qwen3-moe"),
        pytest.param("qwen35", {"<|im_start|>", "<think>"}, "qwen35", True, id="qwen3.5"),
        pytest.param("qwen35moe", {"<|im_start|>", "<think>"}, "qwen35", True, id="qwen3.6-moe"),
        pytest.param("qwen35moe", {"<|im_start|>"}, "chatml", True, id="qwen3.5-without-thought-tokens"),
        pytest.param("llama", {"<|begin_of_text|>", "<|start_header_id|>"}, "llama3", True, id="llama3"),
        pytest.param("llama", {"<|start_header_id|>", "<|im_start|>"}, "chatml", True, id="chatml-tune-of-llama3"),
        pytest.param("gemma3", {"<bos>", "<start_of_turn>"}, "gemma3", True, id="gemma3"),
        pytest.param("llama", {"<s>", "[INST]", "[/INST]"}, "mistral", True, id="mistral"),
        pytest.param("phi3", {"<|im_start|>", "<|im_sep|>"}, "chatml", False, id="phi4-is-only-like-chatml"),
        pytest.param("gpt-oss", {"<|start|>", "<|message|>"}, "chatml", False, id="unknown"),
        pytest.param("llama", set(), "chatml", False, id="no-markup-at-all"),
    ],
)
def test_a_family_is_recognised_by_architecture_and_markup(architecture, markup, family, is_known):
    assert detect_family(architecture, markup) == (family, is_known)


def test_a_mistral_vocabulary_with_system_markup_gets_the_newer_form():
    assert choose_format("llama", {"[INST]", "[SYSTEM_PROMPT]"}) == (NEW_MISTRAL, True)
    assert choose_format("llama", {"[INST]"}) == (ChatFormat("mistral"), True)


def test_a_family_chosen_by_the_profile_overrides_what_is_detected():
    assert choose_format("unknown", set(), family="llama3") == (ChatFormat("llama3"), True)
    assert choose_format("unknown", set(), bos="<s>") == (ChatFormat("chatml", bos="<s>"), False)
