"""A playbook on real arrays: shown in check mode, carried out once, and the second run changes nothing."""

import json
import re
import shlex

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import states
from tests.places import HOUSE

pytestmark = pytest.mark.later

PLAYBOOK = HOUSE / "tests/features/fleet/playbook.yml"
_PLACE = "/tmp/collections/ansible_collections/raidtui"


def play(guest: Guest, *words: str, status: int = 0, confirmed: str = "kept") -> tuple[str, dict[str, int]]:
    """Run the playbook in the guest; return what it prints, and the counts of its last line."""
    tools = HOUSE / ".venv/bin"
    given = json.dumps({"tool": f"{tools}/raidtui", "confirmed": confirmed})
    argv = (
        *(f"{tools}/ansible-playbook", "--inventory=localhost,", "--connection=local", "--extra-vars", given),
        *(*words, str(PLAYBOOK)),
    )
    environment = (
        "ANSIBLE_COLLECTIONS_PATH=/tmp/collections ANSIBLE_LOCAL_TEMP=/tmp/a ANSIBLE_REMOTE_TEMP=/tmp/a"
        f" HOME=/tmp ANSIBLE_PYTHON_INTERPRETER={tools}/python LC_ALL=C.UTF-8 ANSIBLE_NOCOLOR=1"
    )
    link = f"mkdir -p {_PLACE} && ln -sfn {shlex.quote(str(HOUSE / 'fleet/ansible'))} {_PLACE}/raidtui"
    done = guest.run(f"{link} && {environment} {shlex.join(argv)}", timeout=900)
    assert done.status == status, done.output
    recap = "".join(done.stdout.splitlines()[-2:])
    return done.stdout, {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", recap)}


def test_a_playbook_run_twice(guest: Guest) -> None:
    make_array(guest, "one", 1, disk_names(guest)[3:5], extra=["--assume-clean"])
    shown, counts = play(guest, "--check", "--diff", "--tags=first")
    assert (counts["changed"], counts["failed"]) == (3, 0)
    assert "+mdadm --create /dev/md/kept" in shown
    assert "+mdadm --stop /dev/md127" in shown
    assert jobs(guest) == 0
    refused, _ = play(guest, status=2, confirmed="other")
    assert "it destroys data: confirm must be 'kept'" in refused
    assert jobs(guest) == 0
    _, first = play(guest)
    assert (first["changed"], first["failed"]) == (5, 0)
    assert guest.run("cat /proc/sys/dev/raid/speed_limit_max").stdout == "123456\n"
    made = jobs(guest)
    _, second = play(guest)
    assert (second["changed"], second["failed"]) == (0, 0)
    assert jobs(guest) == made


def jobs(guest: Guest) -> int:
    """How many jobs there are."""
    return len(states(guest))
