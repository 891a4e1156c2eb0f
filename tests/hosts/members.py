"""Members of arrays that do not run, as udev and mdadm know them."""

from __future__ import annotations

from raidtui.host.tools import output_path

UUID = "fbbb2b1c:6dbccfed:d429a0ed:a9ec20ed"
OTHER = "11111111:22222222:33333333:44444444"


def udev(
    dev: str, uuid: str = UUID, *, number: int = 0, more: str = "", label: str = "nas:old"
) -> dict[str, str]:
    """Return udev's record of a member."""
    digits = uuid.replace(":", "")
    dashed = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    sub = f"00000000-0000-0000-0000-{number:012d}"
    text = f"E:ID_FS_TYPE=linux_raid_member\nE:ID_FS_UUID={dashed}\nE:ID_FS_UUID_SUB={sub}\n"
    name = f"E:ID_FS_LABEL={label}\n" if label else ""
    return {f"/run/udev/data/b{dev}": f"{text}{name}E:ID_SERIAL_SHORT=S{number}\n{more}"}


def member(name: str, number: int, uuid: str = UUID, *, more: str = "") -> dict[str, str]:
    """Return a disk that udev knows as a member."""
    dev = f"8:{number * 16}"
    return {f"/sys/class/block/{name}/dev": f"{dev}\n", **udev(dev, uuid, number=number, more=more)}


def examined(
    name: str, role: str, *, events: int = 17, disks: int = 3, uuid: str = UUID, roles: str = ""
) -> dict[str, str]:
    """Return what mdadm says of a member's superblock."""
    export = f"MD_LEVEL=raid5\nMD_DEVICES={disks}\nMD_NAME=nas:old\nMD_UUID={uuid}\nMD_EVENTS={events}\n"
    words = f"          Version : 1.2\n   Device Role : {role}\n"
    words += f"   Array State : {roles} ('A' == active, '.' == missing, 'R' == replacing)\n" if roles else ""
    return {
        output_path(("mdadm", "--examine", "--export", f"/dev/{name}")): f"exit 0\n{export}",
        output_path(("mdadm", "--examine", f"/dev/{name}")): f"exit 0\n{words}",
    }


def slot(name: str, number: int, slot: int, *, events: int = 17) -> dict[str, str]:
    """Return a member of a RAID-5 of three, in a slot."""
    return {**member(name, number), **examined(name, f"Active device {slot}", events=events)}


THREE = slot("sda", 1, 0) | slot("sdb", 2, 1) | slot("sdc", 3, 2)
"""All of a RAID-5."""
TWO = slot("sda", 1, 0) | slot("sdc", 3, 2)
"""All but one of it."""
