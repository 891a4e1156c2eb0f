"""A machine without a laboratory, and one whose laboratory is broken: only the former may be passed over."""

import re

import pytest

from tests.lab.conftest import Laboratory
from tests.lab.guests.boot import GUEST_TOOLS, REPOSITORY, LabMissingError, check_tools
from tests.lab.guests.guest import Guest
from tests.lab.guests.link import GuestDiedError
from tests.lab.guests.qemu.boot import HARDWARE_TOOLS


class Boot:
    """Ends with an error, whenever it is tried."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.tried = 0

    def __call__(self) -> Guest:
        self.tried += 1
        raise self.error


@pytest.mark.parametrize(
    ("required", "outcome"), [(False, pytest.skip.Exception), (True, pytest.fail.Exception)]
)
def test_what_is_not_installed_is_reported(outcome: type[BaseException], *, required: bool) -> None:
    boot = Boot(LabMissingError("linux.uml is not installed"))
    laboratory = Laboratory(boot, required=required)
    for _ in range(2):
        with pytest.raises(outcome, match=r"^no laboratory: linux.uml is not installed$"):
            laboratory.guest()
    assert boot.tried == 1


@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize("error", [GuestDiedError("no word from it"), OSError("no word from it")])
def test_a_laboratory_that_does_not_boot_is_a_failure(error: Exception, *, required: bool) -> None:
    boot = Boot(error)
    laboratory = Laboratory(boot, required=required)
    for _ in range(2):
        with pytest.raises(pytest.fail.Exception, match=r"^the laboratory does not boot: no word from it$"):
            laboratory.guest()
    assert boot.tried == 1


def test_a_tool_that_is_missing_is_reported_with_its_package() -> None:
    with pytest.raises(LabMissingError) as reported:
        check_tools({"sh": "dash", "no-such-tool": "one", "nor-this": "two", "nor-that": "one"})
    assert str(reported.value) == (
        "not installed: no-such-tool, nor-this, nor-that (Debian: apt install one two)"
    )


_NO_GUESTS = {
    "ssh": "openssh-client", "ssh-keygen": "openssh-client", "debootstrap": "debootstrap",
    "patchelf": "patchelf", "strip": "binutils", "groff": "groff-base",
}  # fmt: skip
"""What tests/features/fleet and tests/release want."""


def test_make_installs_what_the_guests_want() -> None:
    recipe = (REPOSITORY / "Makefile").read_text().partition("\nsystem:")[2].partition("do \\")[0]
    pairs = dict(re.findall(r"([\w.-]+)=([\w-]+)", recipe.partition("for pair in")[2]))
    assert pairs == {"linux.uml": "user-mode-linux", **GUEST_TOOLS, **HARDWARE_TOOLS, **_NO_GUESTS}
