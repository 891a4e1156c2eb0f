"""What is tried, and the names of all that a trial makes. Pure."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from raidtui.features.rescue.mdadm_words import Assembly, Recreation
from raidtui.features.rescue.search.results import CandidateEvidence
from raidtui.host.trial_traces import PREFIX, rules_path

ROOMS = ("/var/tmp", "/var/lib/raidtui", "/tmp")  # noqa: S108  (a private folder is made in one of them)
"""Where stores are kept, the best place first, unless a folder is named."""
STORE_BYTES = 256 << 20
"""The size of a store, sparse: a trial writes superblocks alone, and little of that is used."""
ROOM_BYTES = 16 << 20
"""The room that the store of one member takes at most, where nothing is reshaped."""


MOVED_BYTES = 1 << 30
"""The most that a store takes of a reshape which mdadm has continued, until it is held."""


MOST_VOLUMES = 16
"""The most volumes of a container that are tried."""
CONF = "mdadm.conf"


class TrialMethod(StrEnum):
    """How something is tried, from what needs least to what can all. For programs; none changes."""

    READ_ONLY = "read-only"  # md, read-only, on the members themselves: their superblocks are sufficient
    MAPPED = "mapped"  # dm-raid, read-only, on the members themselves: no superblocks are used
    OVERLAYS = "overlays"  # md on copy-on-write overlays: the command is the real one


class TrialRequest(Struct, frozen=True, kw_only=True):
    """What is tried.

    Args:
        ident: the trial's own letters.
        made: what the array is made from.
        label: what it is called for people.
        store: a folder for the stores; "" for one that has room.
        store_bytes: the size of each store; None for what is usual.
        evidence: what was seen of what is tried. Its doubts go with its proof and its plan.
    """

    ident: str
    method: TrialMethod
    made: Assembly | Recreation
    label: str
    store: str = ""
    store_bytes: int | None = None
    evidence: CandidateEvidence = CandidateEvidence()


class TrialHost(Struct, frozen=True, kw_only=True):
    """What a host has for a trial.

    Args:
        loops: numbers of loop devices that are free.
        array: a kernel name that no array has: md300; nor has one those after it, for volumes.
        rooms: folders for stores, the best first, with the free bytes of each.
        array_rules: mdadm's rules of udev for arrays, whole; "" where none in /run would go before them.
    """

    loops: tuple[int, ...]
    array: str
    rooms: tuple[tuple[str, int], ...]
    array_rules: str = ""


class TrialNames(Struct, frozen=True, kw_only=True):
    """The names of all that a trial makes.

    Args:
        ident: the trial's own letters.
        array: the kernel's name of the array that it makes.
        folder: where the stores are; "" where there are none.
        volumes: how many volumes are started in it, where it is a container.
    """

    ident: str
    array: str = ""
    folder: str = ""
    volumes: int = 0

    @property
    def own(self) -> str:
        """What all its names begin with."""
        return f"{PREFIX}{self.ident}"

    @property
    def arrays(self) -> tuple[str, ...]:
        """The array, and the volumes in it: the numbers after its own."""
        number = int(self.array.removeprefix("md") or 0)
        return (self.array, *(f"md{number + each}" for each in range(1, self.volumes + 1)))

    @property
    def conf(self) -> str:
        """The configuration file that says what the volumes of a container are called."""
        return f"{self.place}/{CONF}"

    @property
    def place(self) -> str:
        """A private folder: what the trial mounts is mounted in it."""
        return f"/run/{self.own}"

    @property
    def rules(self) -> str:
        """The file of udev's rules."""
        return rules_path(self.ident)

    @property
    def scratch(self) -> str:
        """A folder for what a check needs: that of the stores, else one where stores are kept usually."""
        return self.stores if self.folder else f"{ROOMS[0]}/{self.own}"

    @property
    def stores(self) -> str:
        """The folder of the stores."""
        return f"{self.folder.rstrip('/')}/{self.own}"

    def store(self, member: str) -> str:
        """Return the store of a member."""
        return f"{self.stores}/{flat(member)}"

    def map(self, member: str) -> str:
        """Return the name of a member's overlay, or of its part that holds data."""
        return f"{self.own}-{flat(member)}"

    @property
    def whole(self) -> str:
        """The name of the map that the members' maps make together."""
        return f"{self.own}-array"


def flat(member: str) -> str:
    """Return a kernel name as a part of a name of ours: of cciss/c0d0, cciss_c0d0."""
    return member.replace("/", "_")


def map_path(name: str) -> str:
    """Return the path of a map."""
    return f"/dev/mapper/{name}"
