"""Random keys on real arrays: see ``tests/torture/keys.py``."""

import pytest

from tests.lab.guests.guest import Guest
from tests.torture.keys import play_on

pytestmark = pytest.mark.later


@pytest.mark.parametrize("seed", [4, 8])
def test_random_keys_on_real_arrays(guest: Guest, seed: int) -> None:
    play_on(guest, seed, bursts=6)
