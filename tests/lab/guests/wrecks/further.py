"""Wrecks that differ from the others in kind: mirrors, spares, replacements, bitmaps, names, containers."""

from tests.lab.guests.wrecks.wreck import Found, Truth, Wreck, named

_R5 = "c12 -l5 -n4 -c64 $D0 $D1 $D2 $D3\nfill\n"
_LATER = "check_ext4 $MD ro,noload later"


def _r5(order: str) -> Truth:
    return Truth(level=5, order=named(order), layout="left-symmetric")


def _mirror(order: str) -> Truth:
    return Truth(level=1, order=named(order), chunk_kib=0)


MIRRORS = (
    Wreck(
        id="r10-both-of-a-mirror-stale",
        make="c12 -l10 -n4 -c64 $D0 $D1 $D2 $D3\nfill\nkick $D0\nlater 10\nstop\nedit $D1 events=-7",
        truth=Truth(level=10, order=named("-123"), layout="n2"),
        given=named("0123"),
        proof=_LATER,
    ),
    Wreck(
        id="r1-stale-with-a-newer-clock",
        make="c12 -l1 -n2 $D0 $D1\nfill\nkick $D0\nlater 10\nstop\nedit $D0 utime=+864000",
        truth=_mirror("-1"),
        given=named("01"),
        proof=_LATER,
    ),
    Wreck(
        id="r1-three-apart",
        make="c12 -l1 -n3 $D0 $D1 $D2\nfill\nstop\n"
        "for each in 0 1 2; do disk=D$each; assemble --run ${!disk}; mount $MD /mnt; "
        "echo $each >/mnt/half-$each; umount /mnt; stop; done",
        given=named("012"),
        proof="over 0 1 2\nfor each in 0 1 2; do assemble --run ${OVER[$each]}; check_ext4 $MD; stop; done",
    ),
    Wreck(
        id="r1-can-be-added-again",
        make="create -e1.2 --bitmap=internal -l1 -n2 $D0 $D1\nfill\nkick $D1\nlater 10\nstop",
        truth=_mirror("0-"),
        given=named("01"),
        proof=_LATER,
    ),
    Wreck(
        id="r10-offset-two-adjacent-absent",
        make="c12 -l10 -n4 -c64 --layout=o2 $D0 $D1 $D2 $D3\nfill\nstop\nblank $D1 $D2",
        given=named("03"),
    ),
)

SPARES = (
    Wreck(
        id="r6-three-at-once",
        make="c12 -l6 -n5 -c64 $D0 $D1 $D2 $D3 $D4\nfill\nkick $D4\nkick $D3\nkick $D2\nstop",
        truth=Truth(level=6, order=named("012--"), layout="left-symmetric"),
        given=named("01234"),
    ),
    Wreck(
        id="r6-one-absent-and-dirty",
        make="c12 -l6 -n4 -c64 $D0 $D1 $D2 $D3\nfill\nmount $MD /mnt\ntouch /mnt/dirty\nsync -f /mnt\n"
        "save $D0 $D1 $D2\numount /mnt\nstop\nput_back $D0 $D1 $D2\nblank $D3",
        truth=Truth(level=6, order=named("012-"), layout="left-symmetric"),
        given=named("012"),
    ),
    Wreck(
        id="r5-spare-half-promoted",
        make="c12 -l5 -n3 -x1 -c64 $D0 $D1 $D2 $D3\nfill\nlimit 8000\nkick $D1\nprogress 20000\nfreeze\nstop",
        truth=_r5("0-2"),
        given=named("0123"),
    ),
    Wreck(
        id="r5-spare-half-promoted-one-absent",
        make="c12 -l5 -n3 -x1 -c64 $D0 $D1 $D2 $D3\nfill\nlimit 8000\nkick $D1\nprogress 20000\n"
        "freeze\nstop\nblank $D0",
        truth=_r5("-12"),
        given=named("123"),
    ),
    Wreck(
        id="r5-old-member-returns",
        make=f"{_R5}pull $D3\nmdadm --quiet $MD --add $D4\nwait_idle\nlater 10\nrm $KERNEL\nstop",
        truth=_r5("0124"),
        given=named("01234"),
        proof=_LATER,
    ),
    Wreck(
        id="r5-replacement-cut",
        make=f"{_R5}limit 8000\nmdadm --quiet $MD --add-spare $D4\nmdadm --quiet $MD --replace $D1\n"
        "progress 20000\nfreeze\nstop",
        truth=_r5("0123"),
        given=named("01234"),
    ),
    Wreck(
        id="r5-replacement-cut-two-absent",
        make=f"{_R5}limit 8000\nmdadm --quiet $MD --add-spare $D4\nmdadm --quiet $MD --replace $D1\n"
        "progress 20000\nfreeze\nstop\nblank $D1 $D2",
        given=named("034"),
    ),
)

WRITTEN_OVER = (
    Wreck(
        id="r5-heads-of-two-zeroed",
        make=f"{_R5}stop\n"
        "for each in $D1 $D2; do dd if=/dev/zero of=$each bs=1M count=8 conv=notrunc,fsync status=none; done",
        truth=_r5("0123"),
        given=named("0123"),
        search=Found.UNPROVEN,
        proof="damaged $MD",
        unproven=True,
    ),
    Wreck(
        id="r5-bitmap-damaged",
        make="create -e1.2 --bitmap=internal -l5 -n3 -c64 $D0 $D1 $D2\nfill\nstop\n"
        "for each in $D0 $D1 $D2; do dd if=/dev/zero of=$each bs=4K seek=2 count=1 conv=notrunc,fsync "
        "status=none; done",
        truth=_r5("012"),
        given=named("012"),
    ),
    Wreck(
        id="r0-checksum-one",
        make="create -e1.2 -l0 -n3 -c64 $D0 $D1 $D2\nfill\nstop\nedit $D1 events=+1 checksum=wrong",
        truth=Truth(level=0, order=named("012")),
        given=named("012"),
        search=Found.UNIQUE,
    ),
    Wreck(
        id="r5-table-over-one",
        make=f"{_R5}stop\nlabel $D1 2048,,linux",
        truth=_r5("0-23"),
        given=named("0123"),
    ),
    Wreck(
        id="r5-table-over-all",
        make=f"{_R5}stop\nfor each in $D0 $D1 $D2 $D3; do label $each; done",
        truth=_r5("0123"),
        given=named("0123"),
        search=Found.UNIQUE,
    ),
    Wreck(
        id="r5-partitions-over-all",
        make=f"{_R5}stop\nfor each in $D0 $D1 $D2 $D3; do label $each 2048,,linux; done",
        truth=_r5("0123"),
        given=named("0123"),
        search=Found.UNIQUE,
    ),
    Wreck(
        id="r0-swap-over-one",
        make="create -e1.2 -l0 -n3 -c64 $D0 $D1 $D2\nfill\nstop\nmkswap --quiet $D1",
        truth=Truth(level=0, order=named("012")),
        given=named("012"),
        search=Found.UNIQUE,
    ),
    Wreck(
        id="r5-ext4-over-two",
        make=f"{_R5}stop\nfor each in $D1 $D2; do mkfs.ext4 -q -F $each; done",
        truth=_r5("01-3"),
        given=named("0123"),
        search=Found.TIE,
        proof="damaged $MD",
        unproven=True,
    ),
    Wreck(
        id="linear-one-absent",
        make="create -e1.2 -llinear -n3 $D0 $D1 $D2\nfill\nstop\nblank $D1",
        given=named("02"),
    ),
    Wreck(
        id="r1-partition-moved",
        make="gpt $D0 raid\ngpt $D1 raid\nc12 -l1 -n2 ${D0}1 ${D1}1\nfill\nstop\n"
        "for each in $D0 $D1; do no_table $each; echo '4096,,linux' | "
        "sfdisk --quiet --label=gpt --wipe=never --no-reread $each; reread $each; done",
        given=named("01"),
        proof="over 0\nlast=$(($(blockdev --getsz ${OVER[0]}) - 34))\n"
        'echo "0 $((last - 2047)) linear ${OVER[0]} 2048" | dmsetup create over-part\n'
        "assemble --run /dev/mapper/over-part\ncheck_ext4 $MD",
        mend="map_part 0 1",
    ),
)

NAMES = (
    Wreck(
        id="two-of-one-name",
        make="c12 -l5 -n3 -c64 $D0 $D1 $D2\nfill\nstop\nmv $KERNEL $KERNEL.5\nc12 -l5 -n3 -c64 $D3 $D4 $D5\n"
        "stop\nmv $KERNEL.5 $KERNEL\nblank $D2 $D5",
        truth=_r5("01-"),
        given=named("01"),
    ),
    Wreck(
        id="disks-of-two-hosts",
        make="c12 -l5 -n3 -c64 $D0 $D1 $D2\nfill\nstop\nmv $KERNEL $KERNEL.5\n"
        "HOMEHOST=nas c12 -l5 -n3 -c64 $D3 $D4 $D5\nstop\nmv $KERNEL.5 $KERNEL\nblank $D2 $D4 $D5",
        truth=_r5("01-"),
        given=named("01"),
    ),
    Wreck(
        id="r5-metadata-0.90-cable-two",
        make="create -e0.90 --bitmap=none -l5 -n4 -c64 $D0 $D1 $D2 $D3\nfill\nkick $D3\nkick $D2\nstop",
        truth=Truth(level=5, order=named("012-"), layout="left-symmetric", offset=0, metadata="0.90"),
        given=named("0123"),
    ),
    Wreck(
        id="r5-metadata-1.0-cable-two",
        make="create -e1.0 --bitmap=none -l5 -n4 -c64 $D0 $D1 $D2 $D3\nfill\nkick $D3\nkick $D2\nstop",
        truth=Truth(level=5, order=named("012-"), layout="left-symmetric", offset=0, metadata="1.0"),
        given=named("0123"),
    ),
    Wreck(
        id="ddf-one-absent",
        make="ddf $D0 $D1 $D2\nfill\nstop\nmdadm --quiet --stop /dev/md101\nblank $D1",
        given=named("02"),
        proof="over 0 2\nfor each in ${OVER[@]}; do mdadm --incremental --run $each 2>&1; done\n"
        "udevadm settle\n"
        "MD=/dev/$(sed -n 's/^\\(md[0-9]*\\) : active.*raid5.*/\\1/p' /proc/mdstat)\ncheck_ext4 $MD\n"
        "mdadm --quiet --stop $MD\nmdadm --quiet --stop /dev/md127",
    ),
)
