"""What an answer loses as it nears its limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.requirements import require_module

require_module("torch")

from local_training.losses import overlong_penalty  # noqa: E402
from tests.local_training.losses import reference  # noqa: E402


@pytest.mark.parametrize(
    ("length_tokens", "penalty"),
    [(0, 0.0), (80, 0.0), (81, -0.05), (90, -0.5), (99, -0.95), (100, -1.0), (101, -1.0), (5000, -1.0)],
)
def test_the_penalty_begins_with_the_buffer_and_is_whole_at_the_limit(length_tokens, penalty):
    assert overlong_penalty(length_tokens, limit_tokens=100, buffer_tokens=20) == pytest.approx(penalty)


@given(length=st.integers(0, 300), limit=st.integers(1, 200), data=st.data())
def test_the_penalty_is_that_of_the_formula_and_never_falls_with_length(length, limit, data):
    buffer = data.draw(st.integers(1, limit))
    assert overlong_penalty(length, limit, buffer) == pytest.approx(reference.overlong(length, limit, buffer))
    assert overlong_penalty(length + 1, limit, buffer) <= overlong_penalty(length, limit, buffer)


@pytest.mark.parametrize("buffer_tokens", [0, -1, 101])
def test_a_buffer_outside_the_limit_is_refused(buffer_tokens):
    with pytest.raises(ValueError, match="does not lie within 100"):
        overlong_penalty(50, 100, buffer_tokens)
