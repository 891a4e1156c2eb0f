"""Wrecks whose superblocks are there and differ: members kicked, behind, being rebuilt, or claimed twice."""

from tests.lab.guests.wrecks.wreck import Truth, Wreck, named

_R5 = "c12 -l5 -n4 -c64 $D0 $D1 $D2 $D3\nfill\n"
_LATER = "check_ext4 $MD ro,noload later"


def _r5(order: str) -> Truth:
    return Truth(level=5, order=named(order), layout="left-symmetric")


ABSENT = (
    Wreck(
        id="r5-one-absent",
        make=f"{_R5}stop\nblank $D3",
        truth=_r5("012-"),
        given=named("012"),
    ),
    Wreck(
        id="r5-one-absent-and-dirty",
        make=f"{_R5}mount $MD /mnt\ntouch /mnt/dirty\nsync -f /mnt\nsave $D0 $D1 $D2\numount /mnt\nstop\n"
        "put_back $D0 $D1 $D2\nblank $D3",
        truth=_r5("012-"),
        given=named("012"),
    ),
    Wreck(
        id="r6-two-absent",
        make="c12 -l6 -n5 -c64 $D0 $D1 $D2 $D3 $D4\nfill\nstop\nblank $D1 $D4",
        truth=Truth(level=6, order=named("0-23-"), layout="left-symmetric"),
        given=named("023"),
    ),
    Wreck(
        id="r1-one-absent",
        make="c12 -l1 -n2 $D0 $D1\nfill\nstop\nblank $D0",
        truth=Truth(level=1, order=named("-1"), chunk_kib=0),
        given=named("1"),
    ),
    Wreck(
        id="r0-one-absent",
        make="create -e1.2 -l0 -n3 -c64 $D0 $D1 $D2\nfill\nstop\nblank $D1",
        given=named("02"),
    ),
    Wreck(
        id="r5-a-disk-of-another-array",
        make=f"{_R5}stop\nblank $D3\nHOMEHOST=other c12 -l1 -n2 $D3 missing\nstop",
        truth=_r5("012-"),
        given=named("0123"),
    ),
)

KICKED = (
    Wreck(
        id="r5-cable-two",
        make=f"{_R5}kick $D3\nkick $D2\nstop",
        truth=_r5("012-"),
        given=named("0123"),
    ),
    Wreck(
        id="r5-behind-by-one",
        make=f"{_R5}stop\nedit $D3 events=-1",
        truth=_r5("0123"),
        given=named("0123"),
    ),
    Wreck(
        id="r5-behind-by-20",
        make=f"{_R5}kick $D3\nlater 10\nkick $D2\nstop",
        truth=_r5("012-"),
        given=named("0123"),
        proof=_LATER,
    ),
    Wreck(
        id="r5-behind-by-20000",
        make=f"{_R5}pull $D3\nlater 10\nstop\nfor each in $D0 $D1 $D2; do edit $each events=+20000; done\n"
        "assemble --run $D0 $D1 $D2\nlater 10\nkick $D2\nstop",
        truth=_r5("012-"),
        given=named("0123"),
        proof=_LATER,
    ),
    Wreck(
        id="r5-one-behind",
        make=f"{_R5}kick $D1\nlater 10\nstop",
        truth=_r5("0-23"),
        given=named("0123"),
        proof=_LATER,
    ),
    Wreck(
        id="r6-three-stale",
        make="c12 -l6 -n5 -c64 $D0 $D1 $D2 $D3 $D4\nfill\nkick $D4\nlater 10\nkick $D3\nlater 10\n"
        "kick $D2\nstop",
        truth=Truth(level=6, order=named("012--"), layout="left-symmetric"),
        given=named("01234"),
        proof=_LATER,
    ),
    Wreck(
        id="r10-pair-lost",
        make="c12 -l10 -n4 -c64 $D0 $D1 $D2 $D3\nfill\nkick $D0\nstop\nblank $D1",
        truth=Truth(level=10, order=named("0-23"), layout="n2"),
        given=named("0123"),
    ),
    Wreck(
        id="r10-pair-lost-for-good",
        make="c12 -l10 -n4 -c64 $D0 $D1 $D2 $D3\nfill\nstop\nblank $D0 $D1",
        given=named("23"),
    ),
)

REBUILDING = (
    Wreck(
        id="r5-recovery-cut",
        make=f"{_R5}pull $D3\nzero $D3\nlimit 8000\nmdadm --quiet $MD --add $D3\nprogress 20000\n"
        "freeze\nstop",
        truth=_r5("012-"),
        given=named("0123"),
    ),
    Wreck(
        id="r5-recovery-cut-one-absent",
        make=f"{_R5}pull $D3\nzero $D3\nlimit 8000\nmdadm --quiet $MD --add $D3\nprogress 20000\n"
        "freeze\nstop\n"
        "blank $D0",
        given=named("123"),
    ),
    Wreck(
        id="r5-failed-mid-rebuild",
        make=f"{_R5}pull $D3\nzero $D3\nlimit 8000\nmdadm --quiet $MD --add $D3\nprogress 20000\n"
        "kick $D2\nstop",
        truth=_r5("012-"),
        given=named("0123"),
    ),
    Wreck(
        id="r5-added-as-a-spare",
        make=f"{_R5}pull $D3\nfreeze\nmdadm --quiet $MD --add $D3\nkick $D2\nstop",
        truth=_r5("012-"),
        given=named("0123"),
    ),
)

TWICE = (
    Wreck(
        id="r1-split-brain",
        make="c12 -l1 -n2 $D0 $D1\nfill\nstop\n"
        "for each in 0 1; do disk=D$each; assemble --run ${!disk}; mount $MD /mnt; "
        "echo $each >/mnt/half-$each; "
        "umount /mnt; stop; done",
        given=named("01"),
        proof="over 0 1\n"
        "for each in 0 1; do assemble --run ${OVER[$each]}; check_ext4 $MD; mount -o ro,noload $MD /mnt; "
        "cat /mnt/half-$each; umount /mnt; stop; done",
    ),
    Wreck(
        id="r1-clone",
        make="c12 -l1 -n2 $D0 $D1\nfill\nstop\ndd if=$D0 of=$D2 bs=1M conv=fsync status=none",
        truth=Truth(level=1, order=named("01"), chunk_kib=0),
        given=named("012"),
    ),
    Wreck(
        id="r5-of-another-host",
        make="HOMEHOST=nas c12 -l5 -n3 -c64 $D0 $D1 $D2\nfill\nstop",
        truth=_r5("012"),
        given=named("012"),
    ),
    Wreck(
        id="two-arrays",
        make=f"{_R5}kick $D3\nkick $D2\nstop\nmv $KERNEL $KERNEL.5\nc12 -l1 -n2 $D4 $D5\nstop\n"
        "mv $KERNEL.5 $KERNEL",
        truth=_r5("012-"),
        given=named("012345"),
    ),
)
