# Shell functions with which wrecks are made in the guest, and their truth is proven on overlays. Sourced by
# bash: see tests/lab/guests/wrecks. D0 ... D7 are the disks. Nothing assembles arrays by itself meanwhile.
set -euo pipefail
export LC_ALL=C
MD=/dev/md100
SYS=/sys/block/md100/md
TREE=/tmp/wrecks/tree MANIFEST=/tmp/wrecks/manifest KERNEL=/tmp/wrecks/kernel LATER=/tmp/wrecks/later
UUID=14141414-1414-4141-8141-141414141414
MASK=/run/udev/rules.d/64-md-raid-assembly.rules
HUSH=/run/udev/rules.d/63-md-raid-arrays.rules
STAMP=/run/udev/rules.d/00-lab.rules
RULES=${BASH_SOURCE[0]%/*}

reload_rules() {  # udev follows its rules: it ignores one of some hundred requests to read them, and says nothing
    local mark=$RANDOM$RANDOM
    echo "SUBSYSTEM==\"mem\", KERNEL==\"null\", ENV{LAB_RULES}=\"$mark\"" >$STAMP
    until grep -qs "^E:LAB_RULES=$mark\$" /run/udev/data/c1:3; do
        udevadm control --reload
        udevadm trigger --action=change --settle /sys/class/mem/null
    done
}

mask() {  # no assembly by udev
    mkdir -p /run/udev/rules.d /tmp/wrecks
    ln -sfn /dev/null $MASK
    reload_rules
}

hush() {  # masked, and udev reads no array: mdadm, a reshape and that read can wait for each other
    mask
    ln -sfn /dev/null $HUSH
    reload_rules
}

unmask() {
    udevadm settle
    rm -f $MASK $HUSH
    reload_rules
}

edit() {  # DEVICE FIELD=VALUE...: change a superblock 1.x in place, its checksum with it
    "$PYTHON" -I -S "$RULES/edit_superblock.py" "$@"
}

# Making

create() {  # what all have in common; the rest is given
    mdadm --create $MD --run --assume-clean --homehost="${HOMEHOST:-lab}" --name=t "$@" 2>&1
    udevadm settle
    [ -e $KERNEL ] || note_kernel
}

recreate() {  # over what was there: the resync begins at once
    mdadm --create $MD --run --homehost=lab --name=t --metadata=1.2 --bitmap=none "$@" 2>&1
    udevadm settle
}

assemble() {  # OPTION... DEVICE...
    mdadm --assemble $MD --config=/dev/null "$@" 2>&1
    udevadm settle
}

chunk_reshape() {  # FILE: from 64 to 128 KiB chunks with a backup file
    rm -f "$1"
    begin_reshape --chunk=128 --backup-file="$1"
}

begin_reshape() {  # OPTION...: frozen as it has begun, and nobody watches it
    limit 500
    mdadm --grow $MD "$@" >/dev/null 2>&1 &
    until [ "$(cat $SYS/sync_action)" = reshape ]; do :; done
    until freeze 2>/dev/null; do :; done
    # It forks as the reshape begins: a scan that lists the parent alone finds nobody once that has ended.
    for _ in 1 2; do while pkill -KILL -x 'mdadm.*'; do :; done; done
    echo 0 >$SYS/suspend_hi || true
    rm -f /run/mdadm/backup_file-md100
}

reshape_to() {  # SECTORS: of each of three data disks; md stops there, and records it
    freeze
    echo "$1" >$SYS/sync_max
    limit 200000
    echo idle >$SYS/sync_action
    until [ "$(cat $SYS/reshape_position)" = $(($1 * 3)) ]; do :; done
    freeze
}

backup_file() {  # FILE FIRST COUNT: sectors of the array, as an mdadm that holds md back saves them
    "$PYTHON" -I -S "$RULES/backup_file.py" $MD "$@"
}

save() {  # DEVICE...: superblocks as they are now
    local each
    for each; do dd if="$each" of="/tmp/wrecks/saved-${each##*/}" bs=4K skip=1 count=1 iflag=direct status=none; done
}

put_back() {  # DEVICE...: those that were saved, as a power cut would have left them
    local each
    for each; do dd if="/tmp/wrecks/saved-${each##*/}" of="$each" bs=4K seek=1 count=1 conv=notrunc,fsync status=none; done
}

c12() {  # metadata 1.2, no bitmap
    create --metadata=1.2 --bitmap=none "$@"
}

ddf() {  # DEVICE...: a DDF container, md101, and a RAID 5 on it, which is read-only until mdmon serves it
    local attempt
    for attempt in 1 2 3 4 5; do  # under User Mode Linux mdmon ends with a fault now and then as it starts
        mdadm --create /dev/md101 --run -e ddf -n$# "$@" 2>&1
        udevadm settle
        mdadm --create $MD --run --assume-clean -l5 -n$# -c64 /dev/md101 2>&1
        udevadm settle
        while pgrep -x mdmon >/dev/null; do
            grep -q readonly $SYS/array_state || return 0
            sleep 0.1
        done
        mdadm --stop $MD || true
        mdadm --stop /dev/md101
        mdadm --zero-superblock "$@"
    done
    return 1
}

put() {  # DEVICE [OPTION...]: copy the files onto a file system
    mount "${@:2}" "$1" /mnt
    cp -a $TREE/. /mnt/
    umount /mnt
}

fill() {  # [OPTION...] [-- DEVICE]: a file system of mke2fs's defaults, and the files
    local options=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
    local device=${2:-$MD}
    # Its UUID and seed say in which groups the folders go.
    mkfs.ext4 -q -F -U $UUID -E hash_seed=$UUID "${options[@]}" "$device"
    put "$device"
}

later() {  # NUMBER: files that are written after something happened, each at once on the disks
    mount $MD /mnt
    mkdir -p /mnt/later $LATER
    local number
    for number in $(seq "$1"); do
        dd if=$TREE/block.bin of=$LATER/$number bs=64K count=1 skip=$((number % 64)) status=none
        cp $LATER/$number /mnt/later/
        sync -f /mnt/later
        calm
    done
    umount /mnt
}

calm() {  # the array is clean at once, not after 200 ms without a write: two events for each write
    until echo clean >$SYS/array_state 2>/dev/null; do :; done
}

kick() {  # DEVICE: as a cable does it. Where too few are left, the kernel does it and says EBUSY.
    mdadm --quiet $MD --fail "$1" 2>/dev/null || true
    until grep -q faulty $SYS/dev-"${1##*/}"/state; do :; done
}

pull() {  # DEVICE: kicked, and removed
    kick "$1"
    until mdadm --quiet $MD --remove "$1" 2>/dev/null; do :; done
}

note_kernel() {  # what the kernel says of the array: the truth is compared with it
    local each
    {
        echo "level=$(cat $SYS/level)"
        echo "chunk=$(cat $SYS/chunk_size)"
        echo "layout=$(cat $SYS/layout)"
        echo "disks=$(cat $SYS/raid_disks)"
        for each in $SYS/dev-*; do
            echo "member=${each##*dev-} slot=$(cat "$each/slot") offset=$(cat "$each/offset")"
        done
    } >$KERNEL
}

stop() {
    udevadm settle
    [ -e $KERNEL ] || note_kernel
    # mdmon may stop a volume after mdadm has given up: what counts is that the array is gone.
    until mdadm --quiet --stop $MD 2>/dev/null || [ ! -e $SYS ]; do udevadm settle; done
}

events() {  # DEVICE...: of its superblock on the disk
    local each
    for each; do
        blockdev --flushbufs "$each"
        mdadm --examine "$each" | grep Events
    done
}

lines() {  # NUMBER...: /dev/mapper/line-N is all of a disk, which can be held
    local number disk
    modprobe dm-mod
    for number; do
        disk=D$number
        echo "0 $(blockdev --getsz "${!disk}") linear ${!disk} 0" | dmsetup create "line-$number"
    done
    udevadm settle
}

cut_off() {  # what a cut of the power leaves of the lines 0 to 3, on the disks 4 to 7; 0 to 3 are blank then
    local number from to
    # One after the other: nothing is written after a write that one of them still holds. Superblocks are
    # written to all at a time: where some have been, mdadm takes the journal for stale.
    for number in 0 1 2 3; do dmsetup suspend --nolockfs "line-$number"; done
    until [ "$(events $D0 $D1 $D2 $D3 | sort -u | wc -l)" = 1 ]; do
        for number in 0 1 2 3; do dmsetup resume "line-$number"; done
        udevadm settle
        for number in 0 1 2 3; do dmsetup suspend --nolockfs "line-$number"; done
    done
    for number in 0 1 2 3; do
        from=D$number to=D$((number + 4))
        dd if="${!from}" of="${!to}" bs=1M iflag=direct conv=sparse,fsync status=none
    done
    for number in 0 1 2 3; do dmsetup resume "line-$number"; done
    ! mountpoint -q /mnt || umount /mnt
    stop
    for number in 0 1 2 3; do dmsetup remove --retry "line-$number"; done
    blank $D0 $D1 $D2 $D3
}

tick() {  # until the next second: what is made then is younger, as superblocks count
    local now
    now=$(date +%s)
    while [ "$(date +%s)" = "$now" ]; do sleep 0.05; done
}

zero() { mdadm --quiet --zero-superblock "$@"; }

blank() {  # a new disk, or one that is not there
    local each
    for each; do dd if=/dev/zero of="$each" bs=1M status=none conv=fsync 2>/dev/null || blockdev --flushbufs "$each"; done
}

limit() {  # KIB_S: of a resync
    echo "$1" >/proc/sys/dev/raid/speed_limit_min
    echo "$1" >/proc/sys/dev/raid/speed_limit_max
}

progress() {  # SECTORS: wait until a resync is that far on each member, a reshape in the array
    local done _
    SECONDS=0
    until
        read -r done _ <$SYS/sync_completed
        [ "$(cat $SYS/reshape_position)" = none ] || done=$(cat $SYS/reshape_position)
        [ "$done" != none ] && [ "$done" -ge "$1" ]
    do
        [ $SECONDS -lt 40 ] || { echo "it was too fast, or too slow"; return 1; }
    done
}

freeze() { echo frozen >$SYS/sync_action; }

wait_idle() { until [ "$(cat $SYS/sync_action)" = idle ]; do mdadm --wait $MD 2>/dev/null || true; done; }

reread() {  # DEVICE: udev may hold it, then its partitions are updated one by one
    udevadm settle
    blockdev --rereadpt "$1" 2>/dev/null || partx --update "$1"
    udevadm settle
}

gpt() {  # DEVICE TYPE [SIZE]: a partition from sector 2048
    echo "2048,${3:-},$2" | sfdisk --quiet --label=gpt --wipe=never --no-reread "$1"
    reread "$1"
}

map_part() {  # NUMBER...: the lost partition from sector 2048 on, as a person maps it by hand
    local number disk
    mask
    for number; do
        disk=D$number
        echo "0 $(($(blockdev --getsz "${!disk}") - 2048)) linear ${!disk} 2048" | dmsetup create "part-$number"
    done
    unmask
}

copy_dust() {  # DEVICE: as ddrescue leaves a copy: zeros where nothing could be read
    dd if=/dev/mapper/dust of="$1" bs=4K conv=noerror,sync,fsync iflag=direct status=none 2>/dev/null || true
    udevadm settle
}

label() {  # DEVICE [PARTITION]: a GPT over what is there, as firmware and installers write it; nothing else
    sfdisk --quiet --label=gpt --wipe=never --wipe-partitions=never --no-reread --force "$1" <<<"${2:-label: gpt}"
    reread "$1"
}

no_table() {  # DEVICE: both copies of a GPT
    dd if=/dev/zero of="$1" bs=512 count=34 conv=notrunc,fsync status=none
    dd if=/dev/zero of="$1" bs=512 count=33 seek=$(($(blockdev --getsz "$1") - 33)) conv=notrunc,fsync status=none
    partx --delete "$1" 2>/dev/null || true
    udevadm settle
}

dust() {  # NAME DEVICE: a disk, from its second half MiB on, whose sectors may become bad
    modprobe -a dm-dust
    echo "0 $(($(blockdev --getsz "$2") - 2048)) dust $2 2048 512" | dmsetup create "$1"
    udevadm settle
}

bad() {  # NAME FIRST LAST: sectors that cannot be read from now on
    local sector
    for sector in $(seq "$2" "$3"); do dmsetup message "$1" 0 addbadblock "$sector"; done
    dmsetup message "$1" 0 enable
}

parts() {  # DEVICE: its partitions, if the kernel has not seen them
    udevadm settle
    [ -e "$1p1" ] || blockdev --rereadpt "$1"
    udevadm settle
}

lvm_on() {  # DEVICE: a volume group with one volume
    lvm vgcreate --quiet --yes wrecks "$1"
    lvm lvcreate --quiet --yes --wipesignatures n --name data --extents 90%VG wrecks
}

lvm() { command lvm "$@" --config "devices{filter=[\"a|^$MD\$|\",\"r|.*|\"] use_devicesfile=0}"; }

luks_data() {  # a header of LUKS 2, and what nobody can tell from noise
    printf 'LUKS\272\276\000\002\000\000\000\000\000\000\100\000'
    head -c 4080 /dev/zero
    cat $TREE/block.bin $TREE/large/*
}

luks_on() { luks_data | dd of="$1" bs=64K iflag=fullblock conv=fsync status=none; }

# The truth on overlays

over() {  # NUMBER...: overlays of these disks are in OVER
    local number disk
    OVER=()
    for number; do
        disk=D$number
        overlay "${!disk##*/}"
        OVER+=("/dev/mapper/over-${!disk##*/}")
    done
}

overlay() {  # NAME: /dev/mapper/over-NAME, whose writes go to a file
    modprobe -a dm-snapshot loop
    truncate -s 64M "/tmp/wrecks/over-$1"
    local loop
    loop=$(losetup --find --show "/tmp/wrecks/over-$1")
    echo "0 $(blockdev --getsz "/dev/$1") snapshot /dev/$1 $loop N 8" | dmsetup create "over-$1"
}

drop() {
    local each
    udevadm settle
    mountpoint -q /mnt && umount /mnt
    [ ! -e $SYS ] || mdadm --quiet --stop $MD
    for each in /dev/mapper/over-*; do [ ! -e "$each" ] || dmsetup remove --retry "${each##*/}"; done
    for each in /dev/loop[0-9]*; do losetup -d "$each" 2>/dev/null || true; done
    rm -f /tmp/wrecks/over-*
}

check_files() {  # DEVICE [OPTION...]: nothing is written
    mount -o "${2:-ro,noload}" "$1" /mnt
    (cd /mnt && sha256sum --quiet --check $MANIFEST)
    if [ "${3:-}" = later ]; then (cd $LATER && sha256sum *) | (cd /mnt/later && sha256sum --quiet --check -); fi
    umount /mnt
}

check_but_one() {  # DEVICE: a sound file system, of whose files at most one is damaged
    local bad
    e2fsck -fn "$1" >/tmp/wrecks/fsck 2>&1 || { cat /tmp/wrecks/fsck; return 1; }
    mount -o ro,noload "$1" /mnt
    bad=$(cd /mnt && sha256sum --quiet --check $MANIFEST 2>/dev/null | grep -c FAILED || true)
    umount /mnt
    [ "$bad" -le 1 ] || { echo "$bad files are damaged"; return 1; }
}

damaged() {  # DEVICE: fails where all files are whole
    if check_ext4 "$1" >/dev/null 2>&1; then return 1; fi
    ! mountpoint -q /mnt || umount /mnt
}

check_ext4() {
    e2fsck -fn "$1" >/tmp/wrecks/fsck 2>&1 || { cat /tmp/wrecks/fsck; return 1; }
    check_files "$@"
}
