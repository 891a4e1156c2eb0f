"""What a superblock says of a member is what decides: whose it is, and whether its data are whole."""

import json

from tests.lab.arrays import disk_names
from tests.lab.guest import Guest
from tests.lab.jobs import do, plan, raidtui, refusal
from tests.lab.test_verbs import idle


def test_metadata_0_90_is_told_as_mdadm_tells_it(guest: Guest) -> None:
    """The kernel prints the bytes of its UUID in another order than mdadm."""
    first, second, third = disk_names(guest)[:3]
    made = guest.run(
        "mdadm --create /dev/md90 --run --metadata=0.90 --level=1 -n2 --assume-clean --bitmap=internal"
        f" /dev/{first} /dev/{second} && udevadm settle && mdadm --detail --export /dev/md90"
    )
    assert made.status == 0, made.output
    (uuid,) = [line[8:] for line in made.stdout.splitlines() if line.startswith("MD_UUID=")]
    (array,) = json.loads(raidtui(guest, "status", "--json").stdout)["arrays"]
    assert array["uuid"] == uuid
    assert do(guest, "read-only", "md90").endswith("done\n")  # the step's identity is that UUID
    assert do(guest, "read-write", "md90").endswith("done\n")
    do(guest, "fail", "md90", second)
    do(guest, "remove", "md90", second)
    write = "dd if=/dev/urandom of=/dev/md90 bs=64k count=1 oflag=direct status=none"
    assert guest.run(write).status == 0
    assert refusal(guest, "assemble", "--run", second) == f"{uuid[:8]} is there already as md90"
    assert refusal(guest, "add", "md90", second) == (
        f"{second} was a member, and the bitmap knows what changed;"
        " re-add it; where that fails, zero its superblock and add it"
    )
    assert plan(guest, "re-add", "md90", second)["devices"] == [second]
    assert do(guest, "re-add", "md90", second).endswith("done\n")
    idle(guest, "md90")
    assert "[UU]" in guest.run("cat /proc/mdstat").stdout
    assert do(guest, "add", "md90", third).endswith("done\n")  # as a spare
    assert do(guest, "stop", "md90").endswith("done\n")
    assert do(guest, "assemble", first, second, third).endswith("done\n")
    assert f"MD_UUID={uuid}" in guest.run("mdadm --detail --export /dev/md/*").stdout
