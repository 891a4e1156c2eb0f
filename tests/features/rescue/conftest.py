"""What tests of the search share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for images of file systems, each of which is made once."""
    return tmp_path_factory.mktemp("images")
