"""Each rule on a host that is sick of it, and on one that is well."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.advice.advice import Advice, AdviceCode, HostFacts
from raidtui.features.advice.advice_rules import advise
from raidtui.host.md.configured import configured_in, unknown_words_in
from raidtui.model.finding import Severity
from raidtui.model.snapshot import Snapshot
from raidtui.model.stack import FileSystem, Stack, StackKind, StackNode
from raidtui.monitor.stack.stack_findings import StackCode, StackFinding
from raidtui.plans.tune.findings import TuneCode, TuneFinding
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec, raid0, raid1, raid5

TIB_KIB = 1 << 30
CONF = "/etc/mdadm/mdadm.conf"
UUID, OTHER = "11111111:22222222:33333333:44444444", "aaaaaaaa:bbbbbbbb:cccccccc:dddddddd"


def snapshot(spec: ArraySpec, **more: Any) -> Snapshot:
    """A host with one array, of 1 TiB members if nothing else is said."""
    seen = Kernel(spec).sampler().sample()
    array = replace(seen.arrays[0], **{"component_kib": TIB_KIB, "consistency_policy": "bitmap", **more})
    return replace(seen, arrays=(array,))


def node(name: str, *parents: str, **more: Any) -> StackNode:
    return StackNode(**{"name": name, "kind": StackKind.DISK, "parents": parents, "discards": True, **more})


def layers(*, level: str = "raid1", system: FileSystem | None = None, **more: Any) -> Stack:
    """Two disks, an array, and what is on it."""
    array = node("md127", "sda", "sdb", kind=StackKind.MD, level=level, label="data", **more)
    top = replace(array, file_system=system or FileSystem())
    return Stack(nodes={each.name: each for each in (node("sda"), node("sdb"), top)})


def mounted(free_share: float, kind: str = "ext4") -> FileSystem:
    return FileSystem(kind=kind, mounts=("/srv",), size_bytes=1 << 40, free_bytes=int(free_share * (1 << 40)))


def facts(**more: Any) -> HostFacts:
    """A host that is well, but for what is said."""
    well = {
        "snapshot": snapshot(raid1()),
        "stack": layers(system=mounted(0.5)),
        "trim_timer": "enabled",
        "options": {"/srv": "rw,relatime"},
    }
    return HostFacts(**{**well, **more})


def codes(found: tuple[Advice, ...]) -> list[str]:
    return [each.code for each in found]


def test_a_host_that_is_well() -> None:
    assert advise(facts()) == ()


@pytest.mark.parametrize(
    ("spec", "more", "found"),
    [
        (raid5(), {"consistency_policy": "resync"}, True),
        (raid1(), {"consistency_policy": "resync"}, True),
        (raid5(), {"consistency_policy": "bitmap"}, False),
        (raid5(), {"consistency_policy": "journal"}, False),
        (raid5(), {"consistency_policy": "ppl"}, False),
        (raid5(), {"consistency_policy": None}, False),
        (raid5(), {"consistency_policy": "resync", "component_kib": 97_656_249}, False),
        (raid5(), {"consistency_policy": "resync", "component_kib": 97_656_250}, True),
        (raid0(), {"consistency_policy": "resync"}, False),
        (raid5(), {"consistency_policy": "resync", "active": False}, False),
    ],
)
def test_no_bitmap(spec: ArraySpec, more: dict[str, Any], found: bool) -> None:  # noqa: FBT001
    advice = advise(facts(snapshot=snapshot(spec, **more)))
    assert codes(advice) == ([AdviceCode.NO_BITMAP] if found else [])
    if found:
        title = snapshot(spec).arrays[0].title
        assert advice[0].order == ("plan", "bitmap", title, "internal")
        assert ("can take other data with it" in advice[0].why) == (spec.level == "raid5")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", None),
        ("MAILADDR root\n", None),
        (f"ARRAY /dev/md/data UUID={UUID}\n", None),
        (f"ARRAY /dev/md/other UUID={OTHER}\nARRAY <ignore> UUID={UUID}\n", AdviceCode.CONF_LINE_IGNORES),
        (f"ARRAY <ignore> UUID={UUID}\n", AdviceCode.CONF_LINE_IGNORES),
        (f"ARRAY <ignore> UUID={UUID}\nARRAY /dev/md/data UUID={UUID}\n", None),
        (f"ARRAY /dev/md/data UUID={UUID}\n" * 2, AdviceCode.CONF_LINE_DOUBLED),
        (f"ARRAY /dev/md/data UUID={UUID}\nARRAY data UUID={UUID}\n", None),
        ("ARRAY /dev/md/data\n" * 2, None),
        (
            f"ARRAY /dev/md/data UUID={UUID}\nARRAY /dev/md9 UUID={OTHER}\nARRAY /dev/md9 super-minor=9\n",
            AdviceCode.CONF_LINE_DOUBLED,
        ),
        (f"ARRAY <ignore> UUID={OTHER}\n", None),
        (f"ARRAY /dev/md/other UUID={OTHER}\n", AdviceCode.CONF_LINE_MISSING),
        (f"ARRAY /dev/md/data UUID={OTHER}\n", AdviceCode.CONF_LINE_STALE),
        (f"ARRAY /dev/md126 UUID={OTHER}\n", AdviceCode.CONF_LINE_STALE),
        ("ARRAY /dev/md/data\n", None),
    ],
)
def test_lines_of_mdadm_conf(text: str, code: AdviceCode | None) -> None:
    seen = snapshot(raid1(label="data"), uuid=UUID)
    found = advise(facts(snapshot=seen, configured=configured_in(CONF, text)))
    assert codes(found) == ([code] if code is not None else [])
    if code is not None:
        assert CONF in found[0].text


def test_a_doubled_line_of_mdadm_conf() -> None:
    seen = snapshot(raid1(label="data"), uuid=UUID)
    text = f"ARRAY /dev/md/data UUID={UUID}\nARRAY /dev/md/data UUID={OTHER}\n"
    (advice,) = advise(facts(snapshot=seen, configured=configured_in(CONF, text)))
    assert (advice.code, advice.text, advice.remedy) == (
        AdviceCode.CONF_LINE_STALE,
        f"{CONF}, line 2 has another UUID for data than its members",
        "remove it, then update the initramfs",
    )


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("num-devices=2 level=raid1 metadata=1.2", ""),
        ("level=1 metadata=1", ""),
        ("level=mirror", ""),
        ("num-devices=3", "num-devices=3, but the array has 2 slots"),
        ("level=raid5", "level=raid5, but it is a raid1"),
        ("metadata=1.0", "metadata=1.0, but its members have 1.2"),
        ("devices=/dev/sdx1", "devices=/dev/sdx1 names none of its members"),
        ("level=6 num-devices=3", "num-devices=3, but the array has 2 slots; level=6, but it is a raid1"),
    ],
)
def test_words_of_a_line_that_refuse_its_members(more: str, found: str) -> None:
    seen = snapshot(raid1(label="data"), uuid=UUID)
    names = [member.name for member in seen.arrays[0].members]
    lines = configured_in(CONF, f"ARRAY /dev/md/data {more} UUID={UUID}\n")
    out = {lines[0].where: names} if lines[0].devices else {}
    advice = advise(facts(snapshot=seen, configured=lines, not_listed=out))
    assert [each.text for each in advice] == ([f"{CONF}, line 1: {found}"] if found else [])
    assert codes(advice) == ([AdviceCode.CONF_LINE_REFUSES] if found else [])


@pytest.mark.parametrize(
    ("more", "changed", "found"),
    [
        ("super-minor=0", {}, "super-minor=0, which metadata 1.2 does not have"),
        ("super-minor=none", {}, ""),
        ("super-minor=0", {"metadata": "0.90"}, ""),
        ("name=nas:other", {}, "name=nas:other, but its members have nas:data"),
        ("name=other", {}, "name=other, but its members have nas:data"),
        ("name=data", {}, ""),
        ("name=old:data", {}, ""),
        ("name=nas:other", {"homehost": None}, ""),
        ("name=nas:other", {"metadata": "0.90"}, ""),
        (f"name={'x' * 33}", {}, ""),
    ],
)
def test_identities_that_refuse_its_members(more: str, changed: dict[str, Any], found: str) -> None:
    seen = snapshot(raid1(label="data"), **{"uuid": UUID, "homehost": "nas", "metadata": "1.2", **changed})
    lines = configured_in(CONF, f"ARRAY /dev/md/data {more} UUID={UUID}\n")
    advice = advise(facts(snapshot=seen, configured=lines))
    assert [each.text for each in advice] == ([f"{CONF}, line 1: {found}"] if found else [])


def test_lines_that_exchange_names() -> None:
    seen = snapshot(raid1(label="data"), uuid=UUID)
    (own,) = seen.arrays
    other = replace(own, name="md5", path="/dev/md5", label="other", link=None, uuid=OTHER, members=())
    text = f"ARRAY /dev/md5 UUID={UUID}\nARRAY /dev/{own.name} UUID={OTHER}\n"
    advice = advise(facts(snapshot=replace(seen, arrays=(own, other)), configured=configured_in(CONF, text)))
    assert [each.text for each in advice if each.code == AdviceCode.CONF_LINE_RENAMES] == [
        f"{CONF}, line 1 gives data the name /dev/md5, which other has now",
        f"{CONF}, line 2 gives other the name /dev/{own.name}, which data has now",
    ]
    right = f"ARRAY /dev/{own.name} UUID={UUID}\nARRAY /dev/md7 UUID={OTHER}\n"
    found = advise(facts(snapshot=replace(seen, arrays=(own, other)), configured=configured_in(CONF, right)))
    assert AdviceCode.CONF_LINE_RENAMES not in codes(found)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (f"ARAY /dev/md0 UUID={UUID}", "ARAY"),
        (f"AR /dev/md0 UUID={UUID}", "AR"),
        (f"ARRAYS /dev/md0 UUID={UUID}", "ARRAYS"),
        (f"arr /dev/md0 UUID={UUID}", None),
        ("FUTURE /dev/md0", None),
        (f"POLICY name={UUID}", None),
        ("DEV /dev/sd*", None),
        ("ARRAY UUID=zzzz", "UUID=zzzz"),
        ("ARRAY /dev/md0 uuid=", "uuid="),
        (f"ARRAY /dev/md0 uuid={UUID}0", f"uuid={UUID}0"),
        (f"ARRAY /dev/md0 uuid={UUID}\r", f"uuid={UUID}\r"),
        (f"ARRAY /dev/md0 UUID={UUID.replace(':', '.')}", None),
        (f"ARRAY /dev/md0 UUID={UUID.replace(':', '-').upper()}", None),
    ],
)
def test_lines_that_mdadm_does_not_know(line: str, word: str | None) -> None:
    found = unknown_words_in(CONF, f"MAILADDR root\n{line}\n")
    assert found == ({f"{CONF}, line 2": word} if word is not None else {})
    advice = advise(facts(unknown_words=found))
    assert codes(advice) == [AdviceCode.CONF_LINE_UNKNOWN] * len(found)


def test_members_that_device_leaves_out() -> None:
    seen = snapshot(raid1(label="data"), uuid=UUID)
    first, second = sorted(member.name for member in seen.arrays[0].members)
    (advice,) = advise(facts(snapshot=seen, device_words=("/dev/x*",), left_out=(second, first, "sdz")))
    assert (advice.code, advice.text) == (
        AdviceCode.CONF_DEVICES,
        f"mdadm.conf: DEVICE /dev/x* leaves out {first} and {second}, members of arrays that run",
    )


def test_fstab_is_no_mdadm_conf() -> None:
    """It names other file systems, which says nothing of the arrays."""
    (line,) = configured_in(CONF, f"ARRAY /dev/md/other UUID={OTHER}\n")
    assert advise(facts(configured=(replace(line, file="/etc/fstab"),))) == ()


@pytest.mark.parametrize(
    ("free", "severity"),
    [(0.21, None), (0.2, Severity.ATTENTION), (0.06, Severity.ATTENTION), (0.05, Severity.DEGRADED)],
)
def test_a_full_file_system(free: float, severity: Severity | None) -> None:
    found = advise(facts(stack=layers(system=mounted(free))))
    assert [each.severity for each in found] == ([severity] if severity is not None else [])
    if severity is not None:
        assert found[0].code == AdviceCode.FILE_SYSTEM_FULL
        assert found[0].subject == "/srv"


@pytest.mark.parametrize(
    "stack",
    [
        layers(system=replace(mounted(0.01), mounts=())),
        layers(system=mounted(0.0, "squashfs")),
        layers(system=replace(mounted(0.01), free_bytes=None)),
        layers(system=replace(mounted(0.01), size_bytes=None)),
        layers(level="", system=mounted(0.01)),
    ],
    ids=["not mounted", "read-only by its kind", "free not known", "size not known", "on no array"],
)
def test_what_is_not_judged_by_its_room(stack: Stack) -> None:
    assert advise(facts(stack=stack)) == ()


def test_swap() -> None:
    swap = FileSystem(kind="swap", swap=True)
    assert codes(advise(facts(stack=layers(level="raid0", system=swap)))) == [AdviceCode.SWAP_ON_STRIPES]
    assert advise(facts(stack=layers(level="raid1", system=swap))) == ()
    assert advise(facts(stack=layers(level="raid0", system=replace(swap, swap=False)))) == ()


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"trim_timer": "disabled"}, True),
        ({"trim_timer": "enabled"}, False),
        ({"trim_timer": ""}, False),
        ({"trim_timer": "masked"}, False),
        ({"trim_timer": "disabled", "options": {"/srv": "rw,discard=async"}}, False),
        ({"trim_timer": "disabled", "options": {}}, False),
        ({"trim_timer": "disabled", "stack": layers(system=mounted(0.5), discards=False)}, False),
        ({"trim_timer": "disabled", "stack": layers(system=mounted(0.5), discard_lost="no")}, False),
        ({"trim_timer": "disabled", "stack": layers()}, False),
    ],
)
def test_no_weekly_trim(more: dict[str, Any], found: bool) -> None:  # noqa: FBT001
    assert codes(advise(facts(**more))) == ([AdviceCode.NO_WEEKLY_TRIM] if found else [])


def test_a_kernel_with_a_known_bug() -> None:
    """Its number is the whole of its release: it is certain. A distribution may have mended its own."""
    for release, severity in (("6.1.50", Severity.ATTENTION), ("6.1.0-18-amd64", Severity.INFO)):
        seen = snapshot(raid5())
        seen = replace(seen, host=replace(seen.host, kernel=release))
        found = advise(facts(snapshot=seen))
        assert {each.code for each in found} == {AdviceCode.KERNEL_BUG}
        assert {each.severity for each in found} == {severity}
        assert any("CVE-2024-39476" in each.text for each in found)
    seen = replace(seen, host=replace(seen.host, kernel="6.12.9"))
    assert advise(facts(snapshot=seen)) == ()


def test_what_others_have_found() -> None:
    """Only what needs attention; a cache that is alone is said once; what is not known is no advice."""
    stack = tuple(
        StackFinding(code=code, role=role, node="dm-1", text=f"{code} is so", remedy="mend it")
        for code, role in (
            (StackCode.CACHE_ALONE, "bad"),
            (StackCode.MISALIGNED, "warn"),
            (StackCode.DISCARDS_END, "plain"),
            (StackCode.NOT_KNOWN, "warn"),
        )
    )
    tune = tuple(
        TuneFinding(severity=severity, code=code, subject="sda", name="sda", sentence="it is so", remedy="x")
        for code, severity in (
            (TuneCode.TIMEOUT, Severity.ATTENTION),
            (TuneCode.NO_NCQ, Severity.INFO),
            (TuneCode.CACHE_ALONE, Severity.FAILED),
        )
    )
    found = advise(facts(stack_findings=stack, tune_findings=tune))
    assert codes(found) == [StackCode.CACHE_ALONE, StackCode.MISALIGNED, TuneCode.TIMEOUT]
    assert all(each.why and each.text for each in found)


@pytest.mark.parametrize("code", [each for each in StackCode if each is not StackCode.NOT_KNOWN])
def test_all_that_is_found_in_a_stack_has_its_reason(code: StackCode) -> None:
    found = advise(facts(stack_findings=(StackFinding(code=code, role="warn", node="", text="so"),)))
    assert codes(found) == ([] if code is StackCode.DISCARDS_END else [code])


def test_the_worst_comes_first() -> None:
    seen = snapshot(raid5(), consistency_policy="resync")
    found = advise(facts(snapshot=seen, stack=layers(system=mounted(0.01))))
    assert [each.severity for each in found] == [Severity.DEGRADED, Severity.ATTENTION]
