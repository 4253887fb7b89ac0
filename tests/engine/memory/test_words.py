"""Terms of memories and questions, in English and Chinese, and what words are kinds of."""

import pytest

from engine.memory.concepts import NO_CONCEPTS, make_concepts, shipped_concepts
from engine.memory.stems import stem
from engine.memory.words import content_terms, expression, index_terms, is_about, pieces, query_terms

CONCEPTS = make_concepts({"pet": {"kind": ["pet", "宠物"], "members": ["dog", "cat", "猫", "柯基"]}})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("drinks", "drinking"),
        ("moved", "moving"),
        ("cities", "city"),
        ("running", "ran"),
        ("painted", "paints"),
        ("bought", "buys"),
    ],
)
def test_two_forms_of_a_word_have_one_stem(one, other):
    assert stem(one) == stem(other)


@pytest.mark.parametrize(("one", "other"), [("tea", "team"), ("dog", "dot"), ("nurse", "nut")])
def test_different_words_have_different_stems(one, other):
    assert stem(one) != stem(other)


def test_words_that_say_nothing_are_left_out():
    assert index_terms("I am at the house", NO_CONCEPTS) == "hous"


def test_chinese_is_indexed_by_pairs_and_by_characters():
    assert index_terms("我喝拿铁", NO_CONCEPTS).split() == ["我喝", "喝", "喝拿", "拿", "拿铁", "铁"]


def test_what_a_word_is_a_kind_of_is_a_term_too():
    assert "§pet" in index_terms("Our dogs bark", CONCEPTS).split()
    assert "§pet" in index_terms("我有一只柯基", CONCEPTS).split()
    assert "§pet" not in index_terms("I like tea", CONCEPTS).split()


def test_the_way_a_question_is_put_is_not_asked_for():
    assert query_terms("Do you remember what you know?", NO_CONCEPTS) == ()
    assert query_terms("你知道吗", NO_CONCEPTS) == ()


def test_an_expression_holds_no_syntax_of_the_index():
    terms = query_terms('" OR NEAR( tea* -x : ^ 茶" ', NO_CONCEPTS)
    assert expression(terms) == " OR ".join(f'"{term}"' for term in terms)
    assert all(term.isalnum() for term in terms)


@pytest.mark.parametrize(
    ("question", "memory", "held"),
    [
        pytest.param("dog", "my dog", 1.0, id="the_word"),
        pytest.param("pet", "my dog", 0.6, id="a_member_for_its_kind"),
        pytest.param("cat", "my dog", 0.25, id="a_sibling"),
        pytest.param("boat", "my dog", 0.0, id="nothing"),
        pytest.param("猫", "我的猫", 1.0, id="the_word_zh"),
        pytest.param("宠物", "一只柯基", 0.6, id="a_member_for_its_kind_zh"),
        pytest.param("pet", "一只柯基", 0.6, id="across_languages"),
    ],
)
def test_how_far_a_piece_of_a_question_is_held(question, memory, held):
    asked = pieces(question, CONCEPTS)
    terms = set(index_terms(memory, CONCEPTS).split())
    assert max(piece.held_by(terms) for piece in asked) == held


def test_what_a_text_is_about():
    assert is_about("I drink coffee daily", content_terms("coffee"))
    assert not is_about("I drink tea", content_terms("coffee"))
    assert is_about("我每天喝咖啡", content_terms("咖啡"))
    assert is_about("红色的车", {"车"})


def test_the_shipped_concepts_are_read_and_know_both_languages():
    concepts = shipped_concepts()
    for concept in {concept for some in concepts.by_stem.values() for concept in some}:
        assert any(concept in some for some in concepts.by_run.values()), concept
        assert any(name == concept for _, name in concepts.kinds), concept
