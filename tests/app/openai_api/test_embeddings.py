"""POST /v1/embeddings, through the official client."""

import base64

import numpy as np
import pytest
from openai import BadRequestError


def embed(client, *texts, **options):
    return client.embeddings.create(model="macaron", input=list(texts), **options)


def test_texts_that_mean_alike_lie_near_each_other(client):
    done = embed(client, "The cat sleeps on the sofa.", "A kitten naps on the couch.", "Stocks fell on Monday.")
    cat, kitten, stocks = (np.array(item.embedding) for item in done.data)
    assert np.linalg.norm(cat) == pytest.approx(1.0, abs=1e-4)
    assert cat @ kitten > cat @ stocks + 0.2
    assert [item.index for item in done.data] == [0, 1, 2] and done.usage.prompt_tokens > 10


def test_one_text_needs_no_list(client):
    done = client.embeddings.create(model="macaron", input="咖啡", encoding_format="float", dimensions=384)
    assert len(done.data[0].embedding) == 384


def test_base64_holds_the_same_vector(client):
    # The client asks for base64 by itself and decodes it; here it is left as it comes.
    raw = client.embeddings.create(model="macaron", input="coffee", encoding_format="base64").data[0].embedding
    plain = client.embeddings.create(model="macaron", input="coffee", encoding_format="float").data[0].embedding
    assert np.frombuffer(base64.b64decode(raw), "<f4") == pytest.approx(np.array(plain), abs=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"input": [1, 2, 3]}, id="tokens"),
        pytest.param({"input": [[1, 2], [3]]}, id="lists_of_tokens"),
        pytest.param({"input": []}, id="nothing"),
        pytest.param({"input": [""]}, id="empty"),
        pytest.param({"input": "a", "dimensions": 256}, id="other_dimensions"),
        pytest.param({"input": ["a"] * 513}, id="too_many"),
        pytest.param({"input": "a" * 40_000}, id="too_long"),
        pytest.param({"input": ["a" * 30_000] * 40}, id="too_much_together"),
        pytest.param({"input": {"a": 1}}, id="object"),
        pytest.param({"input": "a", "encoding_format": "int8"}, id="format"),
    ],
)
def test_A10_what_cannot_be_embedded_is_refused(client, options):
    with pytest.raises(BadRequestError):
        client.embeddings.create(**{"model": "macaron", **options})
