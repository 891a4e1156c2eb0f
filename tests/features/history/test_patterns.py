"""The catalogue of lines: each pattern has an example that it alone matches, and words without holes."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from raidtui.features.history.catalogue import Found, find_pattern, matters
from raidtui.features.history.entries import entry_of, words_of
from raidtui.features.history.patterns import compiled, groups_of, patterns
from raidtui.model.log_line import LogLine, Writer
from tests.features.history.logs import captured, line
from tests.places import HOUSE

EXAMPLES = dict(
    row.split("\t", 1)
    for row in Path(__file__).with_name("examples.tsv").read_text().splitlines()
    if not row.startswith("#")
)
DOCS = HOUSE / "docs" / "history.md"
OF_KERNEL = {"md", "ata", "nvme", "scsi", "usb", "block", "boot"}


def writer_of(code: str) -> Writer:
    family = patterns()[code].family
    return Writer.KERNEL if family in OF_KERNEL else Writer(family)


def test_every_pattern_has_an_example() -> None:
    assert list(EXAMPLES) == list(patterns())


@pytest.mark.parametrize("code", list(EXAMPLES))
def test_an_example_is_found_and_matches_no_other(code: str) -> None:
    text, writer = EXAMPLES[code], writer_of(code)
    found = find_pattern(writer, text)
    assert found is not None
    assert found.pattern.code == code
    rivals = [each for each in patterns().values() if writer_of(each.code) is writer]
    assert [each.code for each in rivals if compiled(each.regex).match(text)] == [code]
    assert matters(writer, text)


@pytest.mark.parametrize("code", list(EXAMPLES))
def test_words_have_no_holes(code: str) -> None:
    made = entry_of(line(0, EXAMPLES[code], writer_of(code)))
    assert made is not None
    words = words_of(made)
    assert words
    assert not re.search(r"[{}]|\(\s*\)|\s{2}", words), words


def test_every_code_is_documented() -> None:
    text = DOCS.read_text()
    assert [code for code in patterns() if f"`{code}`" not in text] == []


def test_what_a_line_names() -> None:
    text = "md/raid1:md0: read error corrected (8 sectors at 264192 on sdb1)"
    found = find_pattern(Writer.KERNEL, text)
    assert found is not None
    assert (found.array, found.device, found.port) == ("md0", "sdb1", "")
    made = entry_of(
        line(0, "Fail event detected on md device /dev/md/data, component device /dev/sdd2", Writer.MDADM)
    )
    assert made is not None
    assert (made.array, made.device) == ("data", "sdd2")
    nvme = entry_of(line(0, EXAMPLES["nvme-down"]))
    assert nvme is not None
    assert (nvme.port, words_of(nvme)) == ("nvme0", "the controller is down (CSTS 0xffffffff) and is reset")


@pytest.mark.parametrize(
    "text",
    [
        "usb 1-4: new high-speed USB device number 7 using xhci_hcd",
        "[UFW BLOCK] IN=eno1 OUT= MAC=00:11 SRC=192.0.2.7",
        "net_ratelimit: 12 callbacks suppressed",
        "ata2: EH complete",
        "",
        "md",
    ],
)
def test_lines_that_do_not_matter(text: str) -> None:
    assert find_pattern(Writer.KERNEL, text) is None
    assert entry_of(line(0, text)) is None


def test_names_of_arrays_of_every_kind() -> None:
    for name in ("md0", "md127", "md_home", "md_d3", "md-x.y"):
        found = find_pattern(Writer.KERNEL, f"md: data-check of RAID array {name}")
        assert found is not None
        assert found.array == name


def test_fewer_members_than_slots_is_a_warning() -> None:
    weights = [
        entry.weight.word
        for count in (2, 1)
        if (entry := entry_of(line(0, f"md/raid1:md0: active with {count} out of 2 mirrors"))) is not None
    ]
    assert weights == ["note", "warning"]


def test_real_kernels() -> None:
    """What md said in User Mode Linux 6.1 while each was done, and libata in QEMU with Debian's 6.1."""
    md = Counter(found.pattern.code for each in captured("md-operations") if (found := of(each)) is not None)
    assert {code: md[code] for code in REAL_MD} == REAL_MD
    ata = Counter(
        found.pattern.code for each in captured("sata-write-error") if (found := of(each)) is not None
    )
    assert {code: ata[code] for code in REAL_ATA} == REAL_ATA


def of(each: LogLine) -> Found | None:
    return find_pattern(each.writer, each.text)


REAL_MD = {
    "member-failed": 4, "works-on": 3, "raid0-failed": 1, "array-lost": 1, "mirrors-active": 6,
    "parity-active": 2, "member-found": 8, "too-few": 1, "run-failed": 1, "start-failed": 1, "not-clean": 2,
    "sync-started": 7, "sync-done": 6, "sync-interrupted": 1, "non-fresh": 3, "bitmap-stale": 2,
    "array-stopped": 15,
}  # fmt: skip
REAL_ATA = {
    "ata-exception": 18, "ata-command": 18, "ata-result": 18, "ata-error": 14, "ata-reset": 2,
    "ata-no-ncq": 1, "ata-slowed": 2, "io-error": 4, "scsi-sense": 3, "superblock-unwritten": 1,
    "member-failed": 3, "works-on": 3, "disk-leaving": 1, "ata-disabled": 1, "sync-started": 2,
    "sync-done": 2,
}  # fmt: skip


def test_the_words_of_syncs_are_the_kernels_files() -> None:
    said = ("data-check", "requested-resync", "recovery", "resync", "reshape")
    made = [entry_of(line(0, f"md: md0: {action} done.")) for action in said]
    words = [words_of(entry) for entry in made if entry is not None]
    assert words == ["check done", "repair done", "recover done", "resync done", "reshape done"]


def test_groups_of_another_line_are_none() -> None:
    assert groups_of(patterns()["member-failed"], "md: md0 stopped.") == {}
