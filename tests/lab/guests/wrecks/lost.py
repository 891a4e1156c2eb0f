"""Wrecks whose superblocks are lost, in part or all, or were written over by wrong ones."""

from tests.lab.guests.wrecks.wreck import Found, Truth, Wreck, named


def lost(
    id: str,  # noqa: A002
    create: str,
    truth: Truth,
    *,
    members: str = "",
    fill: str = "fill",
    after: str = "",
    search: Found = Found.UNIQUE,
    proof: str = "check_ext4 $MD",
) -> Wreck:
    """An array whose superblocks are all zeroed; `members`: the numbers of its disks, where some are gone."""
    there = tuple(name for name in truth.order if name != "missing")
    disks = " ".join(f"/dev/{name}" for name in sorted(named(members) or there))
    return Wreck(
        id=id,
        make=f"{create}\n{fill}\nstop\nzero {disks}\n{after}",
        truth=truth,
        given=tuple(sorted(there)),
        search=search,
        proof=proof,
    )


R5 = Truth(level=5, order=named("0123"), layout="left-symmetric")
_R5_MADE = "c12 -l5 -n4 -c64 $D0 $D1 $D2 $D3\nfill\nstop\n"

ZEROED = (
    lost(
        "r5-zero-all",
        "c12 -l5 -n4 -c64 $D2 $D0 $D3 $D1",
        Truth(level=5, order=named("2031"), layout="left-symmetric"),
    ),
    lost(
        "r5-zero-all-512k",
        "c12 -l5 -n4 -c512 $D3 $D2 $D1 $D0",
        Truth(level=5, order=named("3210"), layout="left-symmetric", chunk_kib=512, offset=4096),
        fill="fill -b 4096",
    ),
    lost(
        "r5-la-128k",
        "c12 -l5 -n4 -c128 --layout=la $D2 $D0 $D3 $D1",
        Truth(level=5, order=named("2031"), layout="left-asymmetric", chunk_kib=128),
        fill="fill -b 4096",
    ),
    lost(
        "r5-rs-16k",
        "c12 -l5 -n3 -c16 --layout=rs $D1 $D2 $D0",
        Truth(level=5, order=named("120"), layout="right-symmetric", chunk_kib=16),
    ),
    lost(
        "r5-ra-32k",
        "c12 -l5 -n4 -c32 --layout=ra $D1 $D3 $D0 $D2",
        Truth(level=5, order=named("1302"), layout="right-asymmetric", chunk_kib=32),
        fill="fill -b 4096",
    ),
    lost(
        "r5-parity-first",
        "c12 -l5 -n4 -c64 --layout=parity-first $D0 $D2 $D1 $D3",
        Truth(level=5, order=named("0213"), layout="parity-first"),
        search=Found.TIE,
    ),
    lost(
        "r5-six",
        "c12 -l5 -n6 -c64 $D5 $D1 $D3 $D0 $D4 $D2",
        Truth(level=5, order=named("513042"), layout="left-symmetric"),
        fill="fill -b 4096",
    ),
    lost(
        "r5-one-gone",
        "c12 -l5 -n4 -c64 $D3 $D1 $D0 $D2",
        Truth(level=5, order=named("3-02"), layout="left-symmetric"),
        members="0123",
        after="blank $D1",
    ),
    lost(
        "r5-offset",
        "c12 -l5 -n4 -c64 --data-offset=8M $D1 $D0 $D2 $D3",
        Truth(level=5, order=named("1023"), layout="left-symmetric", offset=16384),
    ),
    lost(
        "r5-part-of-the-disks",
        "c12 -l5 -n3 -c64 --size=40M $D2 $D1 $D0",
        Truth(level=5, order=named("210"), layout="left-symmetric", size_kib=40960),
    ),
    lost(
        "r4",
        "c12 -l4 -n4 -c64 $D1 $D0 $D3 $D2",
        Truth(level=4, order=named("1032")),
        search=Found.TIE,
    ),
    lost(
        "r6",
        "c12 -l6 -n5 -c64 $D4 $D1 $D0 $D3 $D2",
        Truth(level=6, order=named("41032"), layout="left-symmetric"),
    ),
    lost(
        "r6-one-gone",
        "c12 -l6 -n5 -c32 $D0 $D2 $D4 $D1 $D3",
        Truth(level=6, order=named("024-3"), layout="left-symmetric", chunk_kib=32),
        members="01234",
        after="blank $D1",
    ),
    lost(
        "r6-two-gone",
        "c12 -l6 -n6 -c64 $D0 $D1 $D2 $D3 $D4 $D5",
        Truth(level=6, order=named("0123--"), layout="left-symmetric"),
        members="012345",
        after="blank $D4 $D5",
        fill="fill -b 4096",
    ),
    lost(
        "r10-near",
        "c12 -l10 -n4 -c64 $D3 $D1 $D0 $D2",
        Truth(level=10, order=named("3102"), layout="n2"),
    ),
    lost(
        "r10-far",
        "c12 -l10 -n4 -c64 --layout=f2 $D0 $D1 $D2 $D3",
        Truth(level=10, order=named("0123"), layout="f2"),
    ),
    lost(
        "r10-offset",
        "c12 -l10 -n4 -c64 --layout=o2 $D2 $D1 $D3 $D0",
        Truth(level=10, order=named("2130"), layout="o2"),
    ),
    lost(
        "r0",
        "create -e1.2 -l0 -n3 -c64 $D2 $D0 $D1",
        Truth(level=0, order=named("201")),
    ),
    lost(
        "r1",
        "c12 -l1 -n2 $D1 $D0",
        Truth(level=1, order=named("10"), chunk_kib=0),
    ),
    lost(
        "r5-metadata-0.90",
        "create -e0.90 --bitmap=none -l5 -n4 -c64 $D2 $D3 $D0 $D1",
        Truth(level=5, order=named("2301"), layout="left-symmetric", offset=0, metadata="0.90"),
    ),
    lost(
        "r5-metadata-1.0",
        "create -e1.0 --bitmap=none -l5 -n3 -c64 $D1 $D0 $D2",
        Truth(level=5, order=named("102"), layout="left-symmetric", offset=0, metadata="1.0"),
    ),
    lost(
        "r5-metadata-1.1",
        "create -e1.1 --bitmap=none -l5 -n3 -c64 $D2 $D0 $D1",
        Truth(level=5, order=named("201"), layout="left-symmetric", metadata="1.1"),
    ),
    lost(
        "r5-and-a-spare",
        "c12 -l5 -n3 -x1 -c64 $D0 $D1 $D2 $D3",
        Truth(level=5, order=named("012"), layout="left-symmetric"),
        members="0123",
    ),
)

SOME = (
    Wreck(
        id="r5-zero-one",
        make=f"{_R5_MADE}zero $D2",
        truth=R5,
        given=named("0123"),
    ),
    Wreck(
        id="r5-zero-two",
        make=f"{_R5_MADE}zero $D1 $D3",
        truth=R5,
        given=named("0123"),
        search=Found.UNIQUE,
    ),
    Wreck(
        id="r5-zero-three-of-four",
        make=f"{_R5_MADE}zero $D1 $D2 $D3",
        truth=R5,
        given=named("0123"),
        search=Found.UNIQUE,
    ),
    Wreck(
        id="r5-checksum-two",
        make=f"{_R5_MADE}edit $D1 events=+1 checksum=wrong\nedit $D2 events=+1 checksum=wrong",
        truth=R5,
        given=named("0123"),
        search=Found.UNIQUE,
    ),
    Wreck(
        id="r5-two-blank",
        make=f"{_R5_MADE}blank $D2 $D3",
        given=named("0123"),
        search=Found.NOTHING,
    ),
    Wreck(
        id="r5-two-blank-two-zeroed",
        make=f"{_R5_MADE}zero $D0 $D1\nblank $D2 $D3",
        given=named("0123"),
        search=Found.NOTHING,
    ),
    Wreck(
        id="blank-all",
        make="blank $D0 $D1 $D2 $D3",
        given=named("0123"),
        search=Found.NOTHING,
    ),
)

RECREATED = (
    Wreck(
        id="r5-recreated",
        make=f"{_R5_MADE}tick\nc12 -l5 -n4 -c512 --layout=ra $D1 $D0 $D3 $D2 </dev/null\nstop",
        truth=R5,
        given=named("0123"),
        search=Found.UNIQUE,
    ),
    Wreck(
        id="r5-recreated-missing",
        make=f"{_R5_MADE}tick\nc12 -l5 -n4 -c64 $D1 $D0 missing $D3\nstop",
        truth=R5,
        given=named("0123"),
        search=Found.UNIQUE,
    ),
    Wreck(
        id="r5-recreated-and-rebuilt",
        make="c12 -l5 -n4 -c128 --layout=la $D2 $D0 $D3 $D1\nfill -b 4096\nstop\n"
        "recreate -l5 -n4 -c64 $D0 $D1 $D2 $D3\nwait_idle\nstop",
        truth=Truth(level=5, order=named("2031"), layout="left-asymmetric", chunk_kib=128),
        given=named("0123"),
        search=Found.UNIQUE,
    ),
    Wreck(
        id="r5-recreated-partly-rebuilt",
        make="c12 -l5 -n4 -c64 $D2 $D0 $D3 $D1\nfill\nstop\n"
        "limit 8000\ntick\nrecreate -l5 -n4 -c64 $D0 $D1 $D2 $D3\nprogress 20000\nfreeze\nstop",
        truth=Truth(level=5, order=named("2031"), layout="left-symmetric"),
        given=named("0123"),
        search=Found.UNIQUE,
    ),
    Wreck(
        id="r6-recreated-partly-resynced",
        make="c12 -l6 -n4 -c64 $D2 $D0 $D3 $D1\nfill\nstop\n"
        "limit 8000\ntick\nrecreate -l6 -n4 -c64 $D0 $D1 $D2 $D3\nprogress 20000\nfreeze\nstop",
        truth=Truth(level=6, order=named("2031"), layout="left-symmetric"),
        given=named("0123"),
        search=Found.UNPROVEN,
        proof="damaged $MD",
        unproven=True,
    ),
    Wreck(
        id="r10-recreated-partly-resynced",
        make="c12 -l10 -n4 -c64 $D0 $D1 $D2 $D3\nfill\nstop\n"
        "limit 8000\ntick\nrecreate -l10 -n4 -c64 $D0 $D2 $D1 $D3\nprogress 20000\nfreeze\nstop",
        truth=Truth(level=10, order=named("0123"), layout="n2"),
        given=named("0123"),
        search=Found.UNPROVEN,
        proof="damaged $MD",
        unproven=True,
    ),
)
