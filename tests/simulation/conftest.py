"""Every step that these tests take is certified, not one in ten."""

import pytest
from certifying import certify_all


@pytest.fixture(autouse=True)
def certified():
    with pytest.MonkeyPatch.context() as patch:  # its own, which a test's undo leaves alone
        certify_all(patch)
        yield
