"""What is asked of a new array, and what md makes of it: level, layout, chunk, bitmap. No devices yet.

mdadm refuses most of this by itself, but only after we have wiped the devices: so it is all refused here.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from raidtui.host.md.array_names import canonical_uuid
from raidtui.model.geometry import MISSING, losses_left, raid10_layout
from raidtui.model.levels import PARITY_LAYOUTS, PARITY_LEVELS, Raid10Layout
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.plans.create.create_request import LEVELS, CreateRequest, canonical_level
from raidtui.plans.target import refuse_name
from raidtui.view.units import counted

METADATA = ("1.2", "1.1", "1.0")
_LEAST = {"raid0": 2, "raid1": 2, "raid4": 2, "raid5": 2, "raid6": 4, "raid10": 2}
_MOST = {"raid6": 256}
_MOST_MEMBERS = 1920
_MOST_NUMBER = (1 << 20) - 1
_CHUNK_KIB = 512
_PARITY_SHORT = {"la": "left-asymmetric", "ra": "right-asymmetric", "ls": "left-symmetric",
                 "rs": "right-symmetric"}  # fmt: skip
_PARITY_NUMBERS = {word: number for number, word in PARITY_LAYOUTS.items() if number < 6}
_POLICIES = ("", "resync", "bitmap", "ppl", "journal")


class Shape(Struct, frozen=True, kw_only=True):
    """A request with everything filled in that mdadm would otherwise choose.

    Args:
        uuid: in mdadm's form.
        level: the kernel's word.
        layout: as mdadm takes it; "" where the level has none.
        layout_number: md's number of it; None where the level has none.
        chunk_kib: 0 for RAID-1.
        bitmap: none or internal; "" for RAID-0, where mdadm takes neither.
        ppl: whether a partial parity log is kept.
        journal: whether a device keeps a journal.
        kernel: the kernel's name, where it is known beforehand.
        node: the device that mdadm makes.
    """

    uuid: str
    level: str
    layout: str
    layout_number: int | None
    chunk_kib: int
    bitmap: str
    ppl: bool
    journal: bool
    kernel: str
    node: str


def shape_of(request: CreateRequest) -> Shape | Refusal:
    """Return the shape of a new array, or why there cannot be such an array."""
    level = canonical_level(request.level)
    if level is None:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{request.level!r} is not a level that can be created",
            remedy=f"choose {_one_of(LEVELS)}",
        )
    layout = _layout(level, request.layout)
    if isinstance(layout, Refusal):
        return layout
    words, number = layout
    chunk = 0 if level == "raid1" else request.chunk_kib or _CHUNK_KIB
    bitmap = _bitmap(level, request)
    refusal = (
        refuse_name(request.name)
        or _refuse_identity(request)
        or _refuse_slots(level, words, number, request)
        or _refuse_chunk(level, request.chunk_kib)
        or _refuse_policy(level, bitmap, request)
        or _refuse_options(level, request)
    )
    if refusal:
        return refusal
    md_number = request.number
    if md_number is None and request.name.isdigit() and len(request.name) <= 3:
        md_number = int(request.name)
    kernel = "" if md_number is None else f"md{md_number}"
    return Shape(
        uuid=canonical_uuid(request.uuid) or "",
        level=level,
        layout=words,
        layout_number=number,
        chunk_kib=chunk,
        bitmap=bitmap,
        ppl=request.consistency_policy == "ppl",
        journal=bool(request.journal),
        kernel=kernel,
        node=f"/dev/md/{request.name}" if kernel in {"", f"md{request.name}"} else f"/dev/{kernel}",
    )


def _refuse_identity(request: CreateRequest) -> Refusal | None:
    if canonical_uuid(request.uuid) is None:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{request.uuid!r} is not a UUID",
            remedy="give four groups of eight hex digits",
        )
    if request.metadata not in METADATA:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"metadata {request.metadata!r} cannot be created",
            remedy=f"choose {_one_of(METADATA)}",
        )
    if request.number is not None and not 0 <= request.number <= _MOST_NUMBER:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{request.number} is not an md number",
            remedy=f"choose one from 0 to {_MOST_NUMBER}",
        )
    return None


def _layout(level: str, wanted: str) -> tuple[str, int | None] | Refusal:
    if level == "raid10":
        words = wanted or "n2"
        number = raid10_layout(words)
        decoded = Raid10Layout.decode(number) if number is not None else None
        if decoded is None or decoded.copies < 2:
            return Refusal(
                code=RefusalCode.UNSUPPORTED,
                why=f"raid10 has no layout {wanted!r}",
                remedy="choose near, far or offset copies: n2, f2, o2",
            )
        return words, number
    if level in {"raid5", "raid6"}:
        words = _PARITY_SHORT.get(wanted, wanted) or "left-symmetric"
        if words not in _PARITY_NUMBERS:
            return Refusal(
                code=RefusalCode.UNSUPPORTED,
                why=f"{level} has no layout {wanted!r}",
                remedy=f"choose {_one_of(_PARITY_NUMBERS)}",
            )
        return words, _PARITY_NUMBERS[words]
    if wanted:
        return Refusal(code=RefusalCode.UNSUPPORTED, why=f"{level} has no layouts", remedy="omit the layout")
    return "", None


def _refuse_slots(level: str, layout: str, number: int | None, request: CreateRequest) -> Refusal | None:
    count, holes = len(request.devices), request.holes
    if count < _LEAST[level]:
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"{level} needs at least {counted(_LEAST[level], 'device')}, not {count}",
            remedy="add devices, or choose another level",
        )
    most = _MOST.get(level, _MOST_MEMBERS)
    if count + len(request.spares) > most:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{level} takes at most {counted(most, 'device')}",
            remedy="name fewer",
        )
    decoded = Raid10Layout.decode(number) if level == "raid10" and number is not None else None
    if decoded is not None and decoded.copies > count:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"layout {layout} keeps {decoded.copies} copies and there are {counted(count, 'device')}",
            remedy="add devices, or choose fewer copies",
        )
    left = losses_left(level, number, count, holes)
    if holes and (left is None or left < 0):
        be = "is" if len(holes) == 1 else "are"
        return Refusal(
            code=RefusalCode.NOT_REDUNDANT,
            why=f"{level} does not work while {len(holes)} of {counted(count, 'device')} {be} missing",
            remedy="name more devices",
        )
    if MISSING in request.spares:
        return Refusal(code=RefusalCode.INVALID, why="a spare cannot be missing", remedy="omit it")
    return None


def _refuse_chunk(level: str, chunk_kib: int) -> Refusal | None:
    if not chunk_kib:
        return None
    if level == "raid1":
        return Refusal(code=RefusalCode.UNSUPPORTED, why="raid1 has no chunks", remedy="omit the chunk size")
    if chunk_kib < 4:
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"a chunk of {chunk_kib} KiB is too small",
            remedy="the minimum is 4 KiB",
        )
    if level == "raid0":
        if chunk_kib % 4:
            return Refusal(
                code=RefusalCode.INVALID,
                why=f"{chunk_kib} KiB is not a multiple of 4 KiB",
                remedy="choose 32, 64 or 512, for example",
            )
    elif chunk_kib & (chunk_kib - 1):
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{chunk_kib} KiB is not a power of two, which {level} requires",
            remedy="choose 32, 64 or 512, for example",
        )
    return None


def _bitmap(level: str, request: CreateRequest) -> str:
    if level == "raid0":
        return "" if request.bitmap == "none" else request.bitmap
    if request.bitmap:
        return request.bitmap
    policy = request.consistency_policy
    if policy == "bitmap" or (not policy and level in PARITY_LEVELS and not request.journal):
        return "internal"
    return "none"


def _refuse_policy(level: str, bitmap: str, request: CreateRequest) -> Refusal | None:
    policy = request.consistency_policy
    if bitmap not in {"", "none", "internal"}:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{bitmap!r} is not a kind of bitmap",
            remedy="choose none or internal",
        )
    if policy not in _POLICIES:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"there is no consistency policy {policy!r}",
            remedy="choose bitmap or ppl",
        )
    if level == "raid0" and (bitmap or policy):
        word = "bitmap" if bitmap else "consistency policy"
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"raid0 has nothing to sync, so it has no {word}",
            remedy="omit it",
        )
    if refusal := _refuse_journal(level, bitmap, request):
        return refusal
    if policy == "ppl" and level != "raid5":
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why="only raid5 has a partial parity log",
            remedy="choose bitmap=internal",
        )
    if policy == "ppl" and bitmap == "internal":
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why="a partial parity log and a bitmap exclude each other",
            remedy="choose one of the two",
        )
    if (policy == "bitmap") != (bitmap == "internal") and policy in {"bitmap", "resync"}:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"consistency policy {policy} and bitmap={bitmap} exclude each other",
            remedy="omit one of the two",
        )
    if level in PARITY_LEVELS and bitmap == "none" and policy != "ppl" and not request.journal:
        return Refusal(
            code=RefusalCode.NOT_REDUNDANT,
            why=f"{level} without a bitmap resyncs all parity after a crash, and losing a member before that"
            " ends can lose data (the write hole)",
            remedy="choose bitmap=internal" + (", or consistency policy ppl" if level == "raid5" else ""),
        )
    return None


def _refuse_journal(level: str, bitmap: str, request: CreateRequest) -> Refusal | None:
    policy = request.consistency_policy
    if policy == "journal" and not request.journal:
        return Refusal(
            code=RefusalCode.INVALID,
            why="a journal needs a device of its own",
            remedy="name it: --write-journal=DEVICE",
        )
    if not request.journal:
        return None
    if level not in PARITY_LEVELS:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{level} has no parity, so it has no journal",
            remedy="omit the journal",
        )
    if policy not in {"", "journal"} or bitmap == "internal":
        other = "a bitmap" if bitmap == "internal" else f"consistency policy {policy}"
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"a journal and {other} exclude each other",
            remedy="choose one of the two",
        )
    if request.journal == MISSING:
        return Refusal(code=RefusalCode.INVALID, why="a journal cannot be missing", remedy="name its device")
    return None


def _refuse_options(level: str, request: CreateRequest) -> Refusal | None:
    if request.assume_clean and level in PARITY_LEVELS:
        return Refusal(
            code=RefusalCode.NOT_REDUNDANT,
            why=f"{level} without computed parity returns garbage when a member is lost",
            remedy="let it sync: omit --assume-clean",
        )
    if level == "raid0":
        for why, given in (
            ("raid0 has no use for spares", request.spares),
            ("raid0 has no first sync", request.assume_clean),
            ("raid0 uses all of each member", request.size_kib),
        ):
            if given:
                return Refusal(code=RefusalCode.INVALID, why=why, remedy="omit that option")
    if request.write_mostly and level != "raid1":
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why="only raid1 has write-mostly members",
            remedy="omit --write-mostly",
        )
    if strange := [name for name in request.write_mostly if name not in request.devices or name == MISSING]:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{strange[0]} is write-mostly but not one of the devices",
            remedy="name it as a device too",
        )
    if request.write_mostly and request.spares:
        return Refusal(
            code=RefusalCode.INVALID,
            why="mdadm would make the spares write-mostly too",
            remedy="create the array without spares and add them afterwards",
        )
    if request.write_mostly and not set(request.devices) - {*request.write_mostly, MISSING}:
        return Refusal(
            code=RefusalCode.INVALID, why="all members would be write-mostly", remedy="omit one of them"
        )
    if request.failfast and level not in {"raid1", "raid10"}:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"only raid1 and raid10 support failfast, not {level}",
            remedy="omit --failfast",
        )
    if request.size_kib < 0:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{request.size_kib} KiB is not a size",
            remedy="0 uses all of each member",
        )
    return None


def _one_of(words: Iterable[str]) -> str:
    names = list(words)
    return f"{', '.join(names[:-1])} or {names[-1]}"
