"""The power cut in the middle of a job: a few moments that are known; `make torture` tries others."""

from collections.abc import Iterator

import pytest

from tests.lab.conftest import REQUIRE
from tests.lab.guests.boot import LabMissingError
from tests.torture import power_cut


@pytest.fixture(scope="module")
def switched_on(bytecode: None) -> Iterator[None]:
    try:
        power_cut.open_up()
    except LabMissingError as error:
        power_cut.close_down()
        if REQUIRE:
            pytest.fail(str(error), pytrace=False)
        pytest.skip(f"no laboratory: {error}")
    yield
    power_cut.close_down()


@pytest.mark.usefixtures("switched_on")
@pytest.mark.parametrize("kind", ["zero-superblock", "create", "replace", "rescue-force", "rescue-create"])
def test_a_power_cut(kind: str) -> None:
    """Data and black box are whole, the job is found as what it was, and goes on or is taken back."""
    power_cut.cut_in(kind, seed=3)
