"""The sample application, served once for all tests of a module."""

import pytest

from tests.app.gate.sample import serve


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serve(
        tmp_path_factory.mktemp("served"), content_types_by_path={"/gradio_api/upload": ("multipart/form-data",)}
    ) as sample:
        yield sample


@pytest.fixture
def sample(served):
    """The served one, with no handler having run in this test yet."""
    served.calls.clear()
    return served
