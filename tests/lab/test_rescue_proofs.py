"""What the checks of a trial say of contents of all kinds, on the real kernel, with the real tools."""

import json
from typing import Any

import pytest

from tests.lab.guests.guest import Guest

CLEAN, ERRORS, NONE, NOT_TRIED = "clean", "errors", "no-file-system", "not-tried"
EXPECTED = {
    "ext4": [("", "ext4", CLEAN, "e2fsck -n -f finds nothing wrong")],
    "ext4 not unmounted": [("", "ext4", CLEAN, "its journal replayed on an overlay")],
    "xfs": [("", "xfs", CLEAN, "xfs_repair -n finds nothing wrong")],
    "xfs not unmounted": [("", "xfs", CLEAN, "its journal replayed on an overlay")],
    "xfs with errors": [("", "xfs", ERRORS, "xfs_repair -n finds errors in the xfs file system")],
    "btrfs": [("", "btrfs", CLEAN, "btrfs check --readonly finds nothing wrong")],
    "btrfs not unmounted": [("", "btrfs", CLEAN, "btrfs check --readonly finds nothing wrong")],
    "btrfs with errors": [("", "btrfs", ERRORS, "btrfs check --readonly finds errors")],
    "half of a btrfs": [("", "btrfs", NOT_TRIED, "one of 2 devices of a btrfs")],
    "luks2": [("", "crypto_LUKS", NONE, "both headers of LUKS 2 have the right checksum; that proves")],
    "luks2 without its second header": [("", "crypto_LUKS", ERRORS, "the second header of LUKS 2 is")],
    "luks1": [("", "crypto_LUKS", NONE, "LUKS 1 has one header, without a checksum; that proves")],
    "swap": [("", "swap", NONE, "swap space")],
    "noise": [("", "", NONE, "blkid knows nothing of what is there")],
    "gpt with lvm": [
        ("", "gpt", CLEAN, "both headers and tables of the GPT have the right checksum; p1: e2fsck"),
        ("p1", "ext4", CLEAN, "e2fsck"),
        ("p2", "LVM2_member", CLEAN, "metadata text have the right checksums; p2/proofs/data: e2fsck"),
        ("p2/proofs/data", "ext4", CLEAN, "e2fsck"),
    ],
    "gpt cut short": [("", "gpt", ERRORS, "the backup of the GPT is not at the end")],
    "lvm with another text": [("", "LVM2_member", ERRORS, "the checksum of LVM's metadata is wrong")],
}
"""By case: place, contents, verdict, and a part of the sentence that says how sure it is."""
MOUNTED = frozenset(name for name in EXPECTED if not name.endswith("errors"))


@pytest.fixture(scope="module")
def judged(lab: Guest) -> dict[str, Any]:
    """What was said of all of them."""
    script = (
        "import json\nfrom tests.lab.guests.inside import proof_runs\n"
        f"print(json.dumps(proof_runs.judged({list(EXPECTED)!r})))"
    )
    done = lab.run(script, interpreter="python", timeout=400)
    assert done.status == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", EXPECTED)
def test_what_stands_on_it(judged: dict[str, Any], name: str) -> None:
    rows, mounts, same, left = judged[name]
    wanted = EXPECTED[name]
    assert [tuple(row[:3]) for row in rows] == [each[:3] for each in wanted], rows
    for row, each in zip(rows, wanted, strict=True):
        assert each[3] in row[3], rows
    assert not any(mounts) or name not in MOUNTED, mounts
    assert (same, left) == (True, []), rows
