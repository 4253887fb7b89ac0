"""One-bit codes: found again, taken out, and near where their vectors are near."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.codes import CodeMatrix, codes_of


def unit_vectors(count, dimensions=96, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_a_code_holds_whole_words():
    assert [len(code) for code in codes_of(unit_vectors(2, dimensions=65))] == [16, 16]


def test_the_nearest_come_first():
    codes = codes_of(unit_vectors(3000))
    matrix = CodeMatrix(96)
    for number, code in enumerate(codes, start=10):
        matrix.put(number, code)
    for number in (10, 1500, 3009):
        assert matrix.nearest(codes[number - 10], 5)[0] == number


def test_loading_is_the_same_as_putting_one_by_one():
    codes = codes_of(unit_vectors(1500))
    one_by_one, at_once = CodeMatrix(96), CodeMatrix(96)
    for number, code in enumerate(codes):
        one_by_one.put(number, code)
    at_once.load(range(1500), b"".join(codes))
    assert one_by_one.nearest(codes[7], 20) == at_once.nearest(codes[7], 20)


def test_the_first_pass_keeps_what_the_vectors_rank_first():
    vectors = unit_vectors(5000, dimensions=384)
    queries = vectors[:50] + 0.4 * unit_vectors(50, dimensions=384, seed=1)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    matrix = CodeMatrix(384)
    matrix.load(range(5000), b"".join(codes_of(vectors)))
    best = np.argmax(queries @ vectors.T, axis=1)
    found = [best[row] in matrix.nearest(code, 48) for row, code in enumerate(codes_of(queries))]
    assert np.mean(found) == 1.0


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 20)), max_size=60))
def test_after_any_changes_exactly_those_put_last_are_there(changes):
    codes = codes_of(unit_vectors(21))
    matrix, there = CodeMatrix(96), set()
    for is_put, number in changes:
        if is_put:
            matrix.put(number, codes[number])
            there.add(number)
        else:
            matrix.remove(number)
            there.discard(number)
    assert len(matrix) == len(there)
    assert set(matrix.nearest(codes[0], 50)) == there
    for number in there:
        assert number in matrix
        assert matrix.nearest(codes[number], 1) == [number]


@pytest.mark.parametrize("most", [1, 5])
def test_an_empty_matrix_finds_nothing(most):
    assert CodeMatrix(96).nearest(codes_of(unit_vectors(1))[0], most) == []
