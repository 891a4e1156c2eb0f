"""One sshd for all tests of this folder; its hosts are each test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.features.fleet.sshd import Sshd, running


@pytest.fixture(scope="session")
def one_sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with running(tmp_path_factory.mktemp("sshd")) as found:
        yield found


@pytest.fixture
def sshd(one_sshd: Sshd) -> Iterator[Sshd]:
    """The sshd, with nothing answered and nothing cached."""
    yield one_sshd
    for name in ("answers", "cache"):
        for path in sorted((one_sshd.folder / name).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
