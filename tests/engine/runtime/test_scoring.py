"""The trie of labels, without a model."""

import pytest

from engine.runtime.scoring import label_trie


@pytest.mark.parametrize(
    ("labels", "shared", "rests"),
    [
        ([(1, 10), (1, 11)], (1,), ((10,), (11,))),
        ([(1, 2, 3)], (1, 2), ((3,),)),
        ([(1, 2), (1, 2, 3)], (1,), ((2,), (2, 3))),
        ([(5,), (6, 7)], (), ((5,), (6, 7))),
    ],
    ids=["L0 and L1", "one label", "one is a beginning of the other", "nothing shared"],
)
def test_labels_share_their_beginning_but_keep_a_token_each(
    labels: list[tuple[int, ...]], shared: tuple[int, ...], rests: tuple[tuple[int, ...], ...]
) -> None:
    trie = label_trie(labels)
    assert trie.shared == shared
    assert trie.rests == rests


@pytest.mark.parametrize("labels", [[], [(1,), ()]], ids=["none", "an empty one"])
def test_every_label_needs_a_token(labels: list[tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="token"):
        label_trie(labels)
