"""What a wreck is: how it is made, what is true of it, and what must be said of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tests.lab.guests.boot import disk_names

MISSING = "missing"
DISKS, DISK_MIB = 8, 64
_NAMES = disk_names(DISKS)
# md's numbers (Documentation/admin-guide/md.rst); RAID 10: near copies, far copies << 8, offset << 16.
_LAYOUTS = {
    "left-asymmetric": 0,
    "right-asymmetric": 1,
    "left-symmetric": 2,
    "right-symmetric": 3,
    "parity-first": 4,
    "n2": 0x102,
    "f2": 0x201,
    "o2": 0x10201,
}


class Found(StrEnum):
    """What a search has to come to."""

    UNIQUE = "unique"
    """The truth is first, and proven; of RAID 0, 4 and 5 it may be one of a tie."""
    TIE = "tie"
    """The truth is among the best; nothing separates them."""
    UNPROVEN = "unproven"
    """What is left is damaged: no candidate is clean."""
    NOTHING = "nothing"
    """There is nothing to be found, or too little of it."""


def named(word: str) -> tuple[str, ...]:
    """Names of disks by their numbers: "20-1" is ubdc, ubda, missing, ubdb."""
    return tuple(MISSING if each == "-" else _NAMES[int(each)] for each in word)


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The geometry of an array as it was made.

    Args:
        order: by slot, the kernel's names or "missing"; a word of digits for disks.
        layout: in mdadm's words (left-symmetric, n2); "" where the level has none.
        chunk_kib: 0 where the level has none.
        offset: of the data, in sectors.
        size_kib: of each member's part; None where it is all that there is room for.
        metadata: the version that the array is created with again.
    """

    level: int
    order: tuple[str, ...]
    layout: str = ""
    chunk_kib: int = 64
    offset: int = 2048
    size_kib: int | None = None
    metadata: str = "1.2"

    @property
    def create(self) -> Sequence[str]:
        """The options of mdadm --create that make it again, all explicit, without the members."""
        return (
            *(f"--metadata={self.metadata}", f"--level={self.level}", f"--raid-devices={len(self.order)}"),
            *([f"--layout={self.layout}"] if self.layout else []),
            *([f"--chunk={self.chunk_kib}K"] if self.chunk_kib else []),
            *([f"--data-offset={self.offset}s"] if self.metadata == "1.2" else []),
            *([f"--size={self.size_kib}K"] if self.size_kib is not None else []),
            *(["--bitmap=none"] if self.level else []),
        )

    @property
    def kernel_words(self) -> frozenset[str]:
        """What the kernel said of the array when it was made, as ``note_kernel`` writes it."""
        chunk = f"chunk={self.chunk_kib << 10}"
        numbers = _LAYOUTS.get(self.layout)
        return frozenset(
            {
                *(f"level=raid{self.level}", chunk, f"disks={len(self.order)}"),
                *([f"layout={numbers}"] if numbers is not None else []),
                *(
                    f"member={name} slot={slot} offset={self.offset}"
                    for slot, name in enumerate(self.order)
                    if name != MISSING
                ),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wreck:
    """An array that does not start, or not as it should.

    Args:
        make: a script of the functions in ``inside/wrecks.sh``.
        truth: None where nobody can know, or where it is no plain geometry.
        given: the devices that are there, kernel's names; the others are blank.
        search: what a search for the geometry comes to; None where superblocks say it.
        proof: a script that fails unless the truth, running as $MD, gives the files back; "" for an ext4.
            Without a truth, it has to assemble the array on overlays itself.
        mend: a script of what a person does by hand before: a partition mapped, a disk copied.
        named: the devices that raidtui is to look at from then on; () for all.
        whole: a script that fails unless the files are there in $MD as raidtui has started it; "" for that of
            the proof, or an ext4.
        listed: whether a trial mounts what stands on the array, and compares the files with the list.
        replays: whether md writes to the members as it starts them, so that they are never as before again.
        moves: whether what is offered moves the data of all members at once, so that it is tried alone.
        unproven: whether no candidate may be called proven: files are damaged, or nothing shows them whole.
    """

    id: str
    make: str
    truth: Truth | None = None
    given: tuple[str, ...] = ()
    search: Found | None = None
    proof: str = ""
    mend: str = ""
    named: tuple[str, ...] = ()
    whole: str = ""
    listed: bool = True
    replays: bool = False
    moves: bool = False
    unproven: bool = False

    @property
    def looked(self) -> str:
        """A script that looks whether the files are there in $MD, which runs."""
        return self.whole or (self.proof if self.truth is not None else "") or "check_ext4 $MD"

    @property
    def provable(self) -> bool:
        """Whether something comes back, which ``making.prove`` shows."""
        return self.truth is not None or bool(self.proof)
