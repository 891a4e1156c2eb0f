"""Making arrays in the guest, in md's words."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from tests.lab.guests.boot import HOSTNAME
from tests.lab.guests.guest import Guest


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """An array that was made: the kernel's name (`md127`) and the link that udev made (`/dev/md/data`)."""

    kernel: str
    path: PurePosixPath


def disk_names(guest: Guest) -> tuple[str, ...]:
    """The guest's disks: ubda, ubdb, ..."""
    return guest.disks


def make_array(
    guest: Guest,
    name: str,
    level: str | int,
    devices: Sequence[str],
    *,
    layout: str | None = None,
    chunk: int | None = None,
    bitmap: str = "none",
    spares: int = 0,
    extra: Sequence[str] = (),
) -> Made:
    """Create an array of the named devices, the last `spares` of them as spares; `chunk` is in KiB.

    The resync starts at once; with `extra=("--assume-clean",)` there is none. At most four of the guest's
    disks may resync at a time: with more, User Mode Linux now and then loses a request, and all stands still.

    Raises:
        AssertionError: mdadm refused; its words are in the error.
    """
    path = PurePosixPath("/dev/md") / name
    argv = [
        *("mdadm", "--create", str(path), "--run", f"--homehost={HOSTNAME}", "--metadata=1.2"),
        *(f"--level={level}", f"--raid-devices={len(devices) - spares}"),
        *([f"--spare-devices={spares}"] if spares else []),
        *([f"--layout={layout}"] if layout is not None else []),
        *([f"--chunk={chunk}"] if chunk is not None else []),
        *([f"--bitmap={bitmap}"] if str(level) not in {"0", "raid0", "linear"} else []),
        *extra,
        *(device if device.startswith("/") else f"/dev/{device}" for device in devices),
    ]
    made = guest.run(
        f"{shlex.join(argv)} && udevadm settle && readlink -f {shlex.quote(str(path))}", env={"LC_ALL": "C"}
    )
    assert made.status == 0, f"{shlex.join(argv)} ended with status {made.status}:\n{made.output}"
    return Made(kernel=PurePosixPath(made.stdout.split()[-1]).name, path=path)


def make_ram_disks(guest: Guest, count: int, size_mib: int = 16) -> tuple[str, ...]:
    """More disks, in the guest's memory: ram0, ram1, ... The test's end removes them."""
    made = guest.run(f"modprobe brd rd_nr={count} rd_size={size_mib << 10} max_part=0 && udevadm settle")
    assert made.status == 0, made.output
    return tuple(f"ram{index}" for index in range(count))


def make_container(guest: Guest, kind: str, disks: Sequence[str], *options: str) -> None:
    """A container "box" of these disks with the volume "vol", which mdmon serves.

    mdmon ends with a fault now and then as it starts (under User Mode Linux, in the loader). The
    volume stays read-only then, and whoever waits for it waits for ever: all is made again.
    """
    paths, count = " ".join(f"/dev/{disk}" for disk in disks), f"-n{len(disks)}"
    made = guest.run(
        f"""for attempt in 1 2 3 4 5; do
    mdadm --create /dev/md/box --run --metadata={kind} {count} {paths} || exit
    mdadm --create /dev/md/vol --run {shlex.join(options)} {count} /dev/md/box || exit
    udevadm settle
    ! pgrep mdmon >/dev/null || exit 0
    echo "mdmon is gone"
    mdadm --stop /dev/md/vol; mdadm --stop /dev/md/box; mdadm --zero-superblock {paths}; udevadm settle
done; exit 1""",
        env={"IMSM_NO_PLATFORM": "1", "IMSM_DEVNAME_AS_SERIAL": "1"},
    )
    assert made.status == 0, made.output


def slow(guest: Guest, kib_s: int) -> None:
    """Limit every resync to about `kib_s`, so that it is seen moving; the test's end takes it back."""
    folder = "/proc/sys/dev/raid"
    done = guest.run(f"echo {kib_s} >{folder}/speed_limit_min && echo {kib_s} >{folder}/speed_limit_max")
    assert done.status == 0, done.output


def fast(guest: Guest) -> None:
    """The kernel's own limits again."""
    folder = "/proc/sys/dev/raid"
    done = guest.run(f"echo 1000 >{folder}/speed_limit_min && echo 200000 >{folder}/speed_limit_max")
    assert done.status == 0, done.output


def mdstat(guest: Guest) -> str:
    """The guest's /proc/mdstat."""
    return guest.run("cat /proc/mdstat").stdout
