"""Wrecks of other kinds: reshapes cut short, journals, tables, bad sectors, and what is stacked inside."""

from tests.lab.guests.wrecks.wreck import Found, Truth, Wreck, named

_R5 = "c12 -l5 -n4 -c64 $D0 $D1 $D2 $D3\nfill\n"


def _r5(order: str) -> Truth:
    return Truth(level=5, order=named(order), layout="left-symmetric")


_GROW = "c12 -l5 -n3 -c64 $D0 $D1 $D2\nfill\nmdadm --quiet $MD --add $D3\nbegin_reshape --raid-devices=4\n"
_GROWN = f"{_GROW}reshape_to 20480\nstop\n"  # 160 stripes of three disks, which end where 240 of two do
_FOUR = "c12 -l5 -n4 -c64 $D0 $D1 $D2 $D3\nfill\n"
_CHUNK = f"{_FOUR}chunk_reshape /var/tmp/reshape-backup\n"
_BACKUP = "/var/tmp/reshape-backup"
_AMONG_FILES = 8192  # sectors of each of three data disks: files lie there, and in the 3 MiB after it


def _cut(begun: str, disks: str, at: int) -> str:
    """A reshape in place that has gone beyond the recorded place, by what its backup file holds."""
    return (
        f"{begun}reshape_to {at}\nbackup_file {_BACKUP} {at * 3} 6144\nsave {disks}\nreshape_to {at + 2048}\n"
        f"stop\nput_back {disks}"
    )


def _cut_in_place(ident: str, made: str, grow: str, numbers: str) -> Wreck:
    """A cut change of layout or level, which mdadm makes in place with a backup file."""
    disks = " ".join(f"$D{number}" for number in numbers)
    begun = f"{made}rm -f {_BACKUP}\nbegin_reshape {grow} --backup-file={_BACKUP}\n"
    return Wreck(
        id=ident,
        make=_cut(begun, disks, _AMONG_FILES),
        given=named(numbers),
        proof=f"over {' '.join(numbers)}\ncp {_BACKUP} /tmp/wrecks/backup\n"
        "assemble --backup-file=/tmp/wrecks/backup ${OVER[@]} || true\ncheck_ext4 $MD\nwait_idle",
        moves=True,
    )


_CUT = _cut(_CHUNK, "$D0 $D1 $D2 $D3", 18432)
RESHAPES = (
    Wreck(
        id="reshape-chunk-cut",
        make=_CUT,
        given=named("0123"),
        proof="over 0 1 2 3\ncp /var/tmp/reshape-backup /tmp/wrecks/backup\n"
        "assemble --backup-file=/tmp/wrecks/backup ${OVER[@]} || true\ncheck_ext4 $MD\nwait_idle",
        moves=True,
    ),
    Wreck(
        id="reshape-chunk-cut-backup-lost",
        make=f"{_CUT}\nrm /var/tmp/reshape-backup",
        given=named("0123"),
        proof="over 0 1 2 3\n>/tmp/wrecks/backup\n"
        "assemble --backup-file=/tmp/wrecks/backup --invalid-backup ${OVER[@]} || true\n"
        "test -e $SYS\nwait_idle",
        moves=True,
        unproven=True,
    ),
    Wreck(
        id="reshape-chunk-halted",
        make=f"{_CHUNK}reshape_to 18432\nstop\nrm /var/tmp/reshape-backup",
        given=named("0123"),
        proof="over 0 1 2 3\n>/tmp/wrecks/backup\n"
        "assemble --backup-file=/tmp/wrecks/backup --invalid-backup ${OVER[@]} || true\ncheck_ext4 $MD\n"
        "wait_idle",
        moves=True,
    ),
    _cut_in_place("reshape-layout-cut", _FOUR, "--layout=left-asymmetric", "0123"),
    _cut_in_place(
        "reshape-5-to-6-cut", f"{_FOUR}mdadm --quiet $MD --add $D4\n", "--level=6 --raid-devices=5", "01234"
    ),
    _cut_in_place(
        "reshape-6-to-5-cut",
        "c12 -l6 -n5 -c64 $D0 $D1 $D2 $D3 $D4\nfill\n",
        "--level=5 --raid-devices=4",
        "01234",
    ),
    Wreck(
        id="reshape-grow-cut",
        make=_GROWN,
        given=named("0123"),
        proof="over 0 1 2 3\nassemble --freeze-reshape ${OVER[@]}\ncheck_ext4 $MD",
    ),
    Wreck(
        id="reshape-grow-stripe-cut",
        make=f"{_GROW}reshape_to 20096\nstop",
        given=named("0123"),
        proof="over 0 1 2 3\nassemble ${OVER[@]}\nwait_idle\ncheck_ext4 $MD",
        moves=True,
    ),
    Wreck(
        id="reshape-grow-member-lost",
        make=f"{_GROWN}zero $D1",
        given=named("0123"),
        proof="over 0 2 3\nassemble --run --freeze-reshape ${OVER[@]}\ncheck_ext4 $MD",
    ),
)

JOURNAL = (
    Wreck(
        id="r5-journal-lost",
        make="create -e1.2 -l5 -n3 -c64 --write-journal=$D4 $D0 $D1 $D2\nfill\nstop\nblank $D4",
        truth=_r5("012"),
        given=named("012"),
    ),
    Wreck(
        id="r5-journal-full",
        make="lines 0 1 2 3\n"
        "create -e1.2 -l5 -n3 -c64 --write-journal=/dev/mapper/line-3 /dev/mapper/line-{0,1,2}\nfill\n"
        "echo 1000 >$SYS/safe_mode_delay\n"
        "mount $MD /mnt\nrm -r /mnt/text\nsync -f /mnt\n"
        "echo write-back >$SYS/journal_mode\n"
        "cp -a $TREE/text /mnt/\nsync -f /mnt\ncut_off",
        given=named("4567"),
        proof="over 4 5 6 7\nassemble ${OVER[@]}\nmount $MD /mnt\numount /mnt\ncheck_ext4 $MD",
        whole="check_files $MD",
        replays=True,
    ),
    Wreck(
        id="r5-ppl-one-absent",
        make="create -e1.2 --consistency-policy=ppl -l5 -n3 -c64 $D0 $D1 $D2\nfill\nstop\nblank $D1",
        truth=Truth(level=5, order=named("0-2"), layout="left-symmetric", offset=4096),
        given=named("02"),
        replays=True,
    ),
)

TABLES = (
    Wreck(
        id="r1-0.90-whole-or-partition",
        make="for each in $D0 $D1; do echo '2048,,fd' | sfdisk --quiet --label=dos --no-reread $each; "
        "reread $each; done\n"
        "create -e0.90 -l1 -n2 ${D0}1 ${D1}1\nfill\nstop",
        truth=Truth(level=1, order=("ubda1", "ubdb1"), chunk_kib=0, offset=0, metadata="0.90"),
        given=("ubda1", "ubdb1"),
    ),
    Wreck(
        id="r1-partition-lost",
        make="gpt $D0 raid\ngpt $D1 raid\nc12 -l1 -n2 ${D0}1 ${D1}1\nfill\nstop\nno_table $D0\nno_table $D1",
        given=named("01"),
        proof="over 0\nlast=$(($(blockdev --getsz ${OVER[0]}) - 34))\n"
        'echo "0 $((last - 2047)) linear ${OVER[0]} 2048" | dmsetup create over-part\n'
        "assemble --run /dev/mapper/over-part\ncheck_ext4 $MD",
        mend="map_part 0 1",
    ),
    Wreck(
        id="r5-partition-lost-on-one",
        make="for each in $D0 $D1 $D2; do gpt $each raid; done\n"
        "c12 -l5 -n3 -c64 ${D0}1 ${D1}1 ${D2}1\nfill\n"
        "stop\nno_table $D1",
        truth=Truth(level=5, order=("ubda1", "missing", "ubdc1"), layout="left-symmetric"),
        given=("ubda1", "ubdb", "ubdc1"),
        mend="map_part 1",
    ),
    Wreck(
        id="r5-shorter-disk",
        make="last=$(blockdev --getsz $D3)\n"
        'echo "0 $((last - 2048)) linear $D3 2048" | dmsetup create whole\n'
        "udevadm settle\nc12 -l5 -n4 -c64 $D0 $D1 $D2 /dev/mapper/whole\nfill\nstop\n"
        'echo "0 $((last - 22528)) linear $D3 2048" | dmsetup reload whole\n'
        "dmsetup suspend whole\ndmsetup resume whole\nudevadm settle",
        truth=_r5("012-"),
        given=("ubda", "ubdb", "ubdc", "dm-0"),
    ),
)

BAD = (
    Wreck(
        id="r0-bad-sectors",
        make="dust dust $D1\ncreate -e1.2 -l0 -n2 -c64 $D0 /dev/mapper/dust\nfill\nstop\n"
        "bad dust 35088 35103",
        truth=Truth(level=0, order=("ubda", "dm-0")),
        given=("ubda", "dm-0"),
        proof="dmsetup message dust 0 disable\ncheck_ext4 $MD",
        mend="copy_dust $D7",
        named=("ubda", "ubdh"),
        whole="check_but_one $MD",
        listed=False,
    ),
    Wreck(
        id="r5-bad-sectors-one-absent",
        make="dust dust $D1\nc12 -l5 -n3 -c64 $D0 /dev/mapper/dust $D2\nfill\nstop\n"
        "bad dust 37560 37575\nblank $D2",
        truth=Truth(level=5, order=("ubda", "dm-0", "missing"), layout="left-symmetric"),
        given=("ubda", "dm-0"),
        proof="dmsetup message dust 0 disable\ncheck_ext4 $MD",
        mend="copy_dust $D7",
        named=("ubda", "ubdh"),
        whole="check_but_one $MD",
        listed=False,
    ),
    Wreck(
        id="r5-bad-block-list",
        make="dust dust $D1\nc12 -l5 -n3 -c64 $D0 /dev/mapper/dust $D2\nfill\npull $D2\nzero $D2\n"
        "bad dust 40000 40015\nmdadm --quiet $MD --add $D2\nwait_idle\nstop\n"
        "mdadm --examine-badblocks $D2 | grep -q 'for 1[0-9]* sectors'\n"
        "udevadm trigger --action=change --name-match=dm-0\nudevadm settle",
        given=("ubda", "dm-0", "ubdc"),
        proof="for each in ubda dm-0 ubdc; do overlay $each; done\n"
        "assemble /dev/mapper/over-ubda /dev/mapper/over-dm-0 /dev/mapper/over-ubdc\ncheck_but_one $MD",
        mend="copy_dust $D7",
        named=("ubda", "ubdc", "ubdh"),
        whole="check_but_one $MD",
        listed=False,
    ),
)

INSIDE = (
    Wreck(
        id="gpt-in-md",
        make="c12 -l5 -n4 -c64 $D1 $D0 $D3 $D2\ngpt $MD linux\nfill -- ${MD}p1\nstop\nzero $D0 $D1 $D2 $D3",
        truth=_r5("1032"),
        given=named("0123"),
        search=Found.UNIQUE,
        proof="parts $MD\ncheck_ext4 ${MD}p1",
    ),
    Wreck(
        id="lvm-in-md",
        make="create -e0.90 --bitmap=none -l5 -n3 -c64 $D0 $D2 $D1\nlvm_on $MD\nfill -- /dev/wrecks/data\n"
        "lvm vgchange --quiet -an wrecks\nstop\nzero $D0 $D1 $D2",
        truth=Truth(level=5, order=named("021"), layout="left-symmetric", offset=0, metadata="0.90"),
        given=named("012"),
        search=Found.UNIQUE,
        proof="lvm vgchange --quiet -ay wrecks\ncheck_ext4 /dev/wrecks/data\nlvm vgchange --quiet -an wrecks",
    ),
    Wreck(
        id="xfs-in-md",
        make="c12 -l5 -n4 -c64 $D3 $D0 $D1 $D2\n"
        "TEST_DIR=/x TEST_DEV=/x QA_CHECK_FS=1 mkfs.xfs -q -f --unsupported $MD\nput $MD\nstop\n"
        "zero $D0 $D1 $D2 $D3",
        truth=_r5("3012"),
        given=named("0123"),
        search=Found.UNIQUE,
        proof="check_files $MD ro,norecovery",
    ),
    Wreck(
        id="luks-in-md",
        make="c12 -l5 -n4 -c64 $D3 $D0 $D1 $D2\nluks_on $MD\nstop\nzero $D0 $D1 $D2 $D3",
        truth=_r5("3012"),
        given=named("0123"),
        search=Found.TIE,
        proof='luks_data | cmp - <(head -c "$(luks_data | wc -c)" $MD)',
        listed=False,
        unproven=True,
    ),
)

EXTERNAL = (
    Wreck(
        id="ddf",
        make="ddf $D0 $D1 $D2\nfill\nstop\nmdadm --quiet --stop /dev/md101",
        given=named("012"),
        proof="over 0 1 2\nfor each in ${OVER[@]}; do mdadm --incremental $each 2>&1; done\n"
        "udevadm settle\n"
        "cat /proc/mdstat\n"
        "MD=/dev/$(sed -n 's/^\\(md[0-9]*\\) : active.*raid5.*/\\1/p' /proc/mdstat)\ncheck_ext4 $MD\n"
        "mdadm --quiet --stop $MD\nmdadm --quiet --stop /dev/md127",
    ),
)
