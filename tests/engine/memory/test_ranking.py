"""Words, meaning, neighbours and worth make an order."""

import pytest

from engine.memory.ranking import Match, asked, coverage, rank
from engine.memory.words import Piece


def question(*terms, memories=100, **frequencies):
    return asked(terms, [Piece((term,)) for term in terms], frequencies, memories)


def match(number, terms="", cosine=None, weight=1.0, conversation="c-1"):
    return Match(number, conversation, tuple(terms.split()), cosine, weight)


def order(matches, about):
    return [one.memory_id for one in rank(matches, about, 10)]


def test_a_rare_word_counts_more_than_a_common_one():
    about = question("tea", "lik", tea=2, lik=60)
    assert order([match(10, "lik bik"), match(20, "tea pot")], about) == [20, 10]


def test_meaning_decides_where_no_word_is_shared():
    assert order([match(10, "a", 0.2), match(20, "b", 0.7)], question("tea")) == [20, 10]


def test_worth_decides_between_equals_and_what_is_worth_nothing_scores_nothing():
    about = question("tea", tea=2)
    assert order([match(10, "tea", weight=0.5), match(20, "tea", weight=0.9)], about) == [20, 10]
    assert rank([match(10, "tea", weight=0.0)], about, 10) == ()


def test_of_equals_the_newest_comes_first():
    assert order([match(10, "tea"), match(20, "tea")], question("tea", tea=2)) == [20, 10]


def test_what_was_told_beside_a_match_comes_before_what_was_told_elsewhere():
    about = question("tea", tea=1)
    matches = [match(10, "tea"), match(11, "mug"), match(50, "mug", conversation="c-2")]
    assert order(matches, about) == [10, 11]


def test_what_was_told_in_another_conversation_lends_nothing():
    about = question("tea", tea=1)
    assert order([match(10, "tea"), match(11, "mug", conversation="c-2")], about) == [10]


def test_what_was_not_told_in_a_conversation_lends_and_takes_nothing():
    about = question("tea", tea=1)
    by_hand = [match(10, "tea", conversation=None), match(11, "mug", conversation=None)]
    assert order(by_hand, about) == [10]


def test_common_words_alone_do_not_answer_a_question_with_a_rare_one():
    about = question("boat", "call", call=30)
    (only,) = rank([match(10, "call")], about, 10)
    assert only.relevance < 0.4


def test_coverage_is_the_share_of_what_is_asked():
    about = question("tea", "mug", tea=5, mug=5)
    assert coverage(match(1, "tea"), about) == pytest.approx(0.5)
    assert coverage(match(1, "tea mug"), about) == pytest.approx(1.0)
    assert coverage(match(1, "jazz"), about) == 0.0


def test_a_question_without_terms_is_ranked_by_meaning_alone():
    assert order([match(10, "tea", 0.1), match(20, "tea", 0.3)], question()) == [20, 10]
    assert rank([], question(), 10) == ()


def test_no_more_are_ranked_than_asked_for():
    about = question("tea", tea=3)
    assert len(rank([match(number, "tea") for number in (10, 20, 30)], about, 2)) == 2
