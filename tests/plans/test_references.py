"""What names an array by its old path: which words, which partitions, whose; and what is not changed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.survey import Reference, Survey
from raidtui.plans.rename import naming, paths_of, renamed, unchanged_references
from tests.hosts.specs import ArraySpec, raid1, raid10
from tests.plans.running import OTHER, first, host

UUID = raid10().array_uuid
CONF = "/etc/mdadm/mdadm.conf"
FSTAB, CRYPTTAB, GRUB = "/etc/fstab", "/etc/crypttab", "/etc/default/grub"
INITRAMFS = ("update-initramfs", "-u", "-k", "all")


def change(
    text: str, to: str = "new", *more: ArraySpec, conf: str = "", array: ArraySpec | None = None
) -> str:
    """A text after the rename of the array data."""
    survey = host(array or raid10(), *more, texts={CONF: conf})
    return renamed(text, paths_of(survey, first(survey)), f"/dev/md/{to}")


def notes(survey: Survey) -> tuple[str, ...]:
    return unchanged_references(survey, first(survey), paths_of(survey, first(survey)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/dev/md/data\t/srv\text4", "/dev/md/new\t/srv\text4"),
        ("  # /dev/md/data", "  # /dev/md/data"),
        ("/dev/sda1 /srv/md127 ext4", "/dev/sda1 /srv/md127 ext4"),
        ("/dev/md127 \t/dev/md/data  \n/dev/md127", "/dev/md/new \t/dev/md/new  \n/dev/md/new"),
        ("/dev/disk/by-id/md-name-nas:data /x", "/dev/md/new /x"),
        ("/dev/disk/by-id/md-name-else:data /x", "/dev/disk/by-id/md-name-else:data /x"),
        (f"/dev/disk/by-id/md-uuid-{UUID} /x", f"/dev/disk/by-id/md-uuid-{UUID} /x"),
        ("U /x ext4 x-systemd.requires=/dev/md/data,ro", "U /x ext4 x-systemd.requires=/dev/md/new,ro"),
        ("x UUID=1 none luks,header=/dev/md/data", "x UUID=1 none luks,header=/dev/md/new"),
        ("UUID=1 /\xe0 \xa0/dev/md127\xa0", "UUID=1 /\xe0 \xa0/dev/md127\xa0"),
        ("/dev/md1270 none swap", "/dev/md1270 none swap"),
        ("//nas/dev/md127 /x cifs", "//nas/dev/md127 /x cifs"),
        ("/dev/md/data/x /y none bind", "/dev/md/data/x /y none bind"),
        ("/dev/md/database /x", "/dev/md/database /x"),
        # Partitions.
        ("/dev/md/data1 /x", "/dev/md/new1 /x"),
        ("/dev/md/datap1 /x", "/dev/md/new1 /x"),
        ("/dev/md127p12 /x", "/dev/md/new12 /x"),
        ("/dev/md12712 /x", "/dev/md12712 /x"),
        ("/dev/disk/by-id/md-name-nas:data-part3 /x", "/dev/md/new3 /x"),
        ("/dev/md/data-part1 /x", "/dev/md/data-part1 /x"),
        ("/dev/md/data1\xb2 /x", "/dev/md/data1\xb2 /x"),
    ],
)  # fmt: skip
def test_lines_that_are_changed(old: str, new: str) -> None:
    assert change(old) == new
    survey = host(raid10(), texts={CONF: ""})
    lines = [line for line, after in zip(old.split("\n"), new.split("\n"), strict=True) if line != after]
    assert naming(old, paths_of(survey, first(survey))) == lines


@pytest.mark.parametrize(
    ("label", "to", "old", "new"),
    [
        ("data", "126", "/dev/md/data1", "/dev/md/126p1"),
        ("127", "126", "/dev/md/127p1", "/dev/md/126p1"),
        ("127", "data", "/dev/md/127p1", "/dev/md/data1"),
        ("127", "data", "/dev/md/1271", "/dev/md/1271"),
        ("data1", "new", "/dev/md/data1p2", "/dev/md/new2"),
        ("data1", "new", "/dev/md/data12", "/dev/md/data12"),
        ("data.x", "new", "/dev/md/data-x1", "/dev/md/data-x1"),
        ("", "new", "/dev/md127p1", "/dev/md/new1"),
    ],
)
def test_partitions_are_called_as_udev_calls_them(label: str, to: str, old: str, new: str) -> None:
    """A name that ends with a digit has a p before the partition's number (63-md-raid-arrays.rules)."""
    assert change(old, to, array=raid10(label=label)) == new


@pytest.mark.parametrize(
    ("more", "conf", "path"),
    [
        ((raid1(label="data1"),), "", "/dev/md/data1"),
        ((raid1(label="data-part1"),), "", "/dev/disk/by-id/md-name-nas:data-part1"),
        ((), f"ARRAY /dev/md/data1 UUID={OTHER}\n", "/dev/md/data1"),
        ((), f"array /dev/md/datap1 UUID={OTHER}\n", "/dev/md/datap1"),
    ],
)
def test_what_may_be_another_array_is_not_changed(more: tuple[ArraySpec, ...], conf: str, path: str) -> None:
    line = f"{path} /x ext4"
    assert change(line, "new", *more, conf=conf) == line
    survey = host(raid10(), *more, texts={CONF: conf, FSTAB: f"# {path}\n\n{line}\n"})
    doubt = f"{path}, which may be a partition of data or another array. It is not changed: check it."
    assert notes(survey) == (f"{FSTAB}, line 3 names {doubt}",)


def test_two_arrays_of_one_name() -> None:
    """The link says which of them is meant; where none does, nobody knows."""
    mine, other = raid10(), raid1(label="data")
    survey = host(mine, other)
    assert [array.link for array in survey.snapshot.arrays] == ["/dev/md/data", "/dev/md/data"]
    assert change("/dev/md/data /x", "new", other) == "/dev/md/new /x"


def test_the_line_in_the_configuration_is_no_other_array() -> None:
    assert change("/dev/md/data1", conf=f"ARRAY /dev/md/data1\n  UUID={UUID}\n") == "/dev/md/new1"


@pytest.mark.parametrize(
    ("path", "text", "unchanged_references"),
    [
        (
            GRUB,
            '# root=/dev/md/data\nGRUB_CMDLINE_LINUX="root=/dev/md/data quiet"\n',
            "line 2 names the old path; change it by hand, then run update-grub.",
        ),
        (
            "/etc/default/grub.d/x.cfg",
            "A=/dev/md127p1\nB=/dev/md/data.\nC=/dev/md/data\n",
            "lines 1, 2 and 3 name the old path; change it by hand, then run update-grub.",
        ),
        (
            "/boot/grub/grub.cfg",
            "linux /vmlinuz root=/dev/md127 ro\n" * 7,
            "lines 1, 2, 3, 4 and 3 more name the old path; run update-grub afterwards.",
        ),
        (
            "/etc/lvm/lvm.conf",
            '\tglobal_filter = [ "a|^/dev/md/data$|", "r|.*|" ]\n',
            "line 1 names the old path; change it by hand, then run update-initramfs -u -k all.",
        ),
        (
            "/etc/udev/rules.d/60.rules",
            'RUN+="/sbin/x /dev/md/data1", ENV{X}="1"\n',
            "line 1 names the old path; change it by hand, then run udevadm control --reload.",
        ),
        (
            "/etc/systemd/system/srv.mount",
            "[Mount]\nWhat=/dev/disk/by-id/md-name-nas:data-part1\n",
            "line 2 names the old path; change it by hand, then run systemctl daemon-reload.",
        ),
        (
            "/etc/systemd/system/x.service",
            "After=x.target dev-md-data.device\nWants=dev-disk-by\\x2did-md\\x2dname\\x2dnas:data.swap\n",
            "lines 1 and 2 name the old path; change it by hand, then run systemctl daemon-reload.",
        ),
        (
            "/etc/initramfs-tools/conf.d/resume",
            "RESUME=/dev/md/data2\n",
            "line 1 names the old path; change it by hand, then run update-initramfs -u -k all.",
        ),
        (
            "/boot/loader/entries/x.conf",
            "options root=/dev/md/data\n",
            "line 1 names the old path; change it by hand.",
        ),
        (
            CONF,
            f"ARRAY /dev/md/data\n UUID={UUID}\nSYSFS name=/dev/md/data sync_speed_max=1\n",
            "line 3 names the old path; change it by hand, then run update-initramfs -u -k all.",
        ),
        (
            "/etc/mdadm/mdadm.conf.d/x.conf",
            f"ARRAY /dev/md/data UUID={UUID}\n",
            "line 1 names the old path; change it by hand, then run update-initramfs -u -k all.",
        ),
    ],
)  # fmt: skip
def test_files_that_are_reported(path: str, text: str, unchanged_references: str) -> None:
    survey = host(raid10(), texts={CONF: "", path: text}, initramfs=INITRAMFS)
    assert notes(survey) == (f"{path}, {unchanged_references}",)


@pytest.mark.parametrize(
    "text",
    [
        "root=/dev/md/data3x root=/dev/md/database /dev/md.* /dev/md\n",
        'KERNEL=="md127", root=/dev/md/new\n',
        "After=dev-md-database.device dev-md-data.mount\n",
        "#/dev/md/data\n",
        f"/dev/disk/by-id/md-uuid-{UUID}\n",
    ],
)
def test_files_that_name_something_else(text: str) -> None:
    assert notes(host(raid10(), texts={GRUB: text})) == ()


@pytest.mark.parametrize(
    ("named", "devices", "reported"),
    [
        ("/dev/disk/by-path/virtual", ("md127",), True),
        ("/mnt/link", ("sda", "md127p1"), True),
        ("/mnt/link", ("md1271",), False),
        ("/mnt/link", ("sda",), False),
        ("/dev/disk/by-uuid/01-02", ("md127",), False),  # it stays as it is
        ("UUID=01-02", ("md127",), False),
        ("/dev/md/data", ("md127",), False),  # it is changed
    ],
)
def test_paths_that_lead_to_it(named: str, devices: tuple[str, ...], *, reported: bool) -> None:
    """Of links to the array nobody knows where they will lead: only in the files that a plan may change."""
    texts = {FSTAB: f"# x\n{named} /x ext4\n", "/etc/systemd/system/x.mount": f"[Mount]\nWhat={named}\n"}
    places = [Reference(path=path, line=2, text=named, devices=devices) for path in texts]
    survey = replace(host(raid10(), texts=texts), named=tuple(places))
    said = f"{FSTAB}, line 2 names data as {named}; it is not changed: check it afterwards."
    assert [note for note in notes(survey) if "names data as" in note] == ([said] if reported else [])


def test_a_doubtful_path_that_leads_to_it_is_reported_once() -> None:
    survey = host(raid10(), raid1(label="data1"), texts={FSTAB: "/dev/md/data1 /x ext4\n"})
    place = Reference(path=FSTAB, line=1, text="/dev/md/data1", devices=("md127p1",))
    (note,) = notes(replace(survey, named=(place,)))
    assert note.endswith("may be a partition of data or another array. It is not changed: check it.")


def test_a_host_that_is_no_debian() -> None:
    texts = {GRUB: "root=/dev/md/data\n", "/boot/grub2/grub.cfg": "root=/dev/md/data\n"}
    assert notes(host(raid10(), texts=texts, conf_path="/etc/mdadm.conf")) == (
        f"{GRUB}, line 1 names the old path; change it by hand, then regenerate grub's configuration.",
        "/boot/grub2/grub.cfg, line 1 names the old path; regenerate grub's configuration afterwards.",
    )
