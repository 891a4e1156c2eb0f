"""The scene at its beginning."""

from __future__ import annotations

import pytest

from tests.demo.scene import Scene


@pytest.fixture
def scene() -> Scene:
    return Scene()
