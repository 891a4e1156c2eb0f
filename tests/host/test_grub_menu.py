"""What GRUB starts by itself."""

from __future__ import annotations

import pytest

from raidtui.host.boot.grub_menu import MenuError, read_start, start_of
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.boot import BootEntry

HEAD = """\
if [ -s $prefix/grubenv ]; then
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
else
   set default="%s"
fi
"""
MENU = """\
menuentry 'Debian' --class debian $menuentry_id_option 'simple' {
\tload_video
\tif [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
\tif [ x$feature_platform_search_hint = xy ]; then
\t  search --no-floppy --fs-uuid --set=root aaaa
\tfi
\tlinux\t/boot/vmlinuz-6.1.0-50-amd64 root=UUID=aaaa ro quiet
\tinitrd\t/boot/microcode.img /boot/initrd.img-6.1.0-50-amd64
}
submenu 'More' $menuentry_id_option 'more' {
\tmenuentry 'Debian, with Linux 6.1.0-50' --class debian $menuentry_id_option 'more-50' {
\t\tlinux\t/boot/vmlinuz-6.1.0-50-amd64 root=UUID=aaaa ro single
\t}
\tmenuentry 'Debian, with Linux 6.1.0-40' --class debian $menuentry_id_option 'more-40' {
\t\tlinux\t/boot/vmlinuz-6.1.0-40-amd64 root=UUID=aaaa ro
\t\tinitrd\t/boot/initrd.img-6.1.0-40-amd64
\t}
}
menuentry "Memory test" {
\tlinux16 /boot/memtest.bin
}
"""
FIRST = BootEntry(
    title="Debian",
    kernel="vmlinuz-6.1.0-50-amd64",
    initrd="initrd.img-6.1.0-50-amd64",
    words=("root=UUID=aaaa", "ro", "quiet"),
)


def test_the_first_entry() -> None:
    assert start_of(HEAD % "0" + MENU, {}) == FIRST


@pytest.mark.parametrize(
    ("default", "environment"),
    [
        ("1>1", {}),
        ("more>more-40", {}),
        ("More>Debian, with Linux 6.1.0-40", {}),
        ("${saved_entry}", {"saved_entry": "more>more-40"}),
        ("0", {"next_entry": "1>1"}),
    ],
)
def test_another_entry(default: str, environment: dict[str, str]) -> None:
    found = start_of(HEAD % default + MENU, environment)
    assert (found.title, found.kernel) == ("Debian, with Linux 6.1.0-40", "vmlinuz-6.1.0-40-amd64")
    assert found.initrd == "initrd.img-6.1.0-40-amd64"


def test_nothing_is_saved() -> None:
    assert start_of(HEAD % "${saved_entry}" + MENU, {}) == FIRST


@pytest.mark.parametrize("default", ["9", "1", "none", "1>7", "1>1>1"])
def test_no_such_entry(default: str) -> None:
    with pytest.raises(MenuError, match=rf"^grub.cfg has no entry {default}, which is to be started$"):
        start_of(HEAD % default + MENU, {})


def test_titles_that_are_numbers_stay_within_the_menu() -> None:
    assert start_of("menuentry 'x' {\n linux /vmlinuz-1 root=/dev/md0\n}\n", {}).words == ("root=/dev/md0",)


def test_files_of_a_host() -> None:
    root = MemoryReader(
        {
            "/boot/grub2/grub.cfg": HEAD % "${saved_entry}" + MENU,
            "/boot/grub2/grubenv": "# GRUB Environment Block\nsaved_entry=more>0\n###",
        }
    )
    assert read_start(root).words[-1] == "single"
    with pytest.raises(MenuError, match=r"^there is no grub.cfg that can be read$"):
        read_start(MemoryReader({}))


def specified(saved: str) -> BootEntry:
    """A host whose entries are files of their own."""
    entry = "title Fedora (%s)\nversion %s\nlinux /vmlinuz-%s\ninitrd /initramfs-%s.img\noptions %s\n"
    root = MemoryReader(
        {
            "/boot/grub2/grub.cfg": "set default=0\n  blscfg\n",
            "/boot/grub2/grubenv": f"saved_entry={saved}\nkernelopts=root=UUID=bbbb ro\n",
            "/boot/loader/entries/abc-6.9.9.conf": entry % (("6.9.9",) * 4 + ("$kernelopts rd.md.uuid=x",)),
            "/boot/loader/entries/abc-6.10.1.conf": entry % (("6.10.1",) * 4 + ("$kernelopts",)),
        }
    )
    return read_start(root)


def test_entries_in_files() -> None:
    assert specified("").kernel == "vmlinuz-6.10.1"  # the newest, by its numbers
    old = specified("abc-6.9.9")
    assert (old.kernel, old.initrd) == ("vmlinuz-6.9.9", "initramfs-6.9.9.img")
    assert old.words == ("root=UUID=bbbb", "ro", "rd.md.uuid=x")
