"""Values for good: the files' whole texts, values put in and taken out, and who else sets them."""

from __future__ import annotations

import hashlib

import pytest

from raidtui.model.fact import Fact, FactKind
from raidtui.model.knob import By, ChangedValue, KnobScope, Setting, Subject, Tuning, Value
from raidtui.model.plan import Harm, Plan, PutFile, Refusal, RunTool, Write
from raidtui.plans.tune.keep import KeepItem, items_for_now, kept_items, plan_forget, plan_keep
from raidtui.plans.tune.keep_files import (
    SYSCTL_HEAD,
    UDEV_HEAD,
    KeptEntry,
    rule_match,
    udev_entries,
    udev_text,
)
from tests.hosts.specs import raid5
from tests.hosts.tune_host import (
    BLOCK,
    CPUS,
    INTEL,
    POLICIES,
    RULES,
    SYSCTL,
    TMPFILES,
    TuneHost,
    parity,
    udev,
)
from tests.plans.running import planned, refused

DATABASE = {
    udev("sda"): "E:ID_SERIAL=Samsung_SSD_S1\nE:ID_SERIAL_SHORT=S1",
    udev("sdb"): "E:ID_SERIAL=Samsung_SSD_S2\nE:ID_SERIAL_SHORT=S2",
}
SDA = (
    'ACTION=="add", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", ENV{ID_SERIAL}=="Samsung_SSD_S1",'
    ' ATTR{queue/scheduler}="none", ATTR{device/queue_depth}="8"'
)
HEAD_SDA = "# SSDSC2BB240G4, S1"
ELSEWHERE = (
    'ACTION=="add", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", ENV{ID_SERIAL}=="Gone_S9",'
    ' ATTR{queue/scheduler}="bfq"'
)
RELOAD = RunTool(argv=("udevadm", "control", "--reload"), why="udev reads its rules again", may_fail=True)


def items(*words: str) -> list[KeepItem]:
    """Of "sda scheduler=none"."""
    found = []
    for word in words:
        subject, _, rest = word.partition(" ")
        knob, _, value = rest.partition("=")
        found.append(KeepItem(subject=subject, knob=knob, value=value))
    return found


def keeping(host: TuneHost, *words: str) -> Plan | Refusal:
    """The plan that keeps."""
    return plan_keep(host.snapshot(), host.tuning(), items(*words))


def forgetting(host: TuneHost, *words: str) -> Plan | Refusal:
    """The plan that forgets; without words all."""
    return plan_forget(host.snapshot(), host.tuning(), items(*words) if words else None)


def text_of(plan: Plan | Refusal, path: str) -> str | None:
    """The new content of a file."""
    return next((step.content for step in planned(plan).steps if step.path == path), None)


def digest(path: str, text: str | None) -> Fact:
    value = "" if text is None else hashlib.sha256(text.encode()).hexdigest()
    return Fact(kind=FactKind.DIGEST, subject=path, value=value)


def test_a_disk_for_the_first_time() -> None:
    """The kernel is asked first; then the file; then udev reads it."""
    host = TuneHost(files=DATABASE)
    text = f"{UDEV_HEAD}{HEAD_SDA}\n{SDA}\n"
    need = Fact(kind=FactKind.SERIAL, subject="sda", value="S1")
    remove = RunTool(
        argv=("rm", "--force", "--", RULES),
        why=f"{RULES} did not exist",
        proves=(digest(RULES, None),),
    )
    back = [
        Write(path=f"{BLOCK}/sda/{file}", text=value, why=f"{knob} back to {value}", needs=(need,))
        for file, knob, value in (
            ("queue/scheduler", "scheduler", "mq-deadline"),
            ("device/queue_depth", "queue_depth", "32"),
            ("queue/nr_requests", "nr_requests", "64"),
        )
    ]
    assert keeping(host, "sda queue_depth=8", "sda scheduler=none") == Plan(
        title="kept: queue_depth 8 (sda), scheduler none (sda)",
        subject="sda",
        harm=Harm.HARMLESS,
        steps=(
            Write(
                path=f"{BLOCK}/sda/queue/scheduler",
                text="none",
                why="scheduler mq-deadline → none",
                needs=(need,),
                undo=(back[0], back[2]),
            ),
            Write(
                path=f"{BLOCK}/sda/device/queue_depth",
                text="8",
                why="queue_depth 32 → 8",
                needs=(need,),
                undo=(back[1],),
            ),
            RunTool(
                argv=("mkdir", "--parents", "/etc/udev/rules.d"),
                why="/etc/udev/rules.d does not exist yet",
            ),
            PutFile(
                path=RULES,
                content=text,
                why="sets the values at every boot",
                needs=(digest(RULES, None),),
                proves=(digest(RULES, text),),
                undo=(remove,),
            ),
            RunTool(argv=RELOAD.argv, why=RELOAD.why, may_fail=True, undo=(RELOAD,)),
        ),
        undo=(remove, RELOAD, *back),
        notes=("With a new scheduler the kernel resets nr_requests.",),
    )


def test_the_value_of_now_is_kept_without_a_write() -> None:
    host = TuneHost(files={**DATABASE, "/etc/udev/rules.d/README": "x"})
    plan = planned(keeping(host, "sda scheduler"))
    assert [step.command for step in plan.steps] == [f"write {RULES}", "udevadm control --reload"]
    assert (text_of(plan, RULES) or "").endswith('ATTR{queue/scheduler}="mq-deadline"\n')


def test_more_goes_in_beside_what_is_there() -> None:
    """Of another disk, of one that is not here, and what somebody else wrote."""
    foreign = 'KERNEL=="sdx", ATTR{queue/nomerges}="2"'
    old = "\n".join((UDEV_HEAD + foreign, HEAD_SDA, SDA, "# Elsewhere, S9", ELSEWHERE))
    host = TuneHost(files={**DATABASE, RULES: old})
    plan = planned(keeping(host, "sdb timeout=180", "sda queue_depth=16"))
    sdb = (
        'ACTION=="add", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", ENV{ID_SERIAL}=="Samsung_SSD_S2",'
        ' ATTR{device/timeout}="180"'
    )
    assert text_of(plan, RULES) == (
        f"{UDEV_HEAD}{foreign}\n{HEAD_SDA}\n"
        + SDA.replace('queue_depth}="8"', 'queue_depth}="16"')
        + f"\n# Elsewhere, S9\n{ELSEWHERE}\n# SSDSC2BB240G4, S2\n{sdb}\n"
    )
    step = next(step for step in plan.steps if step.path == RULES)
    assert step.undo[0].content == f"{old}\n"


def test_an_array_is_matched_by_its_uuid_and_written_once() -> None:
    host = TuneHost(raid5(attributes=parity()))
    uuid = host.text(f"{BLOCK}/md125/md/uuid")
    plan = keeping(host, "md125 stripe_cache_size=4096", "md125 sync_speed_max=500000")
    changes = 'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="md*"'
    assert text_of(plan, RULES) == (
        f'{UDEV_HEAD}{changes}, IMPORT{{db}}="RAIDTUI_KEPT"\n'
        "# array media\n"
        f'{changes}, ATTR{{md/uuid}}=="{uuid}", ATTR{{md/array_state}}!="clear|inactive",'
        ' TEST=="md/sync_action", ENV{RAIDTUI_KEPT}!="1", ENV{RAIDTUI_KEPT}="1",'
        ' ATTR{md/stripe_cache_size}="4096", ATTR{md/sync_speed_max}="500000"\n'
    )
    assert planned(plan).steps[-1] == RunTool(
        argv=("udevadm", "trigger", "--action=change", "--settle", "/sys/class/block/md125"),
        why="udev notes that the values of md125 are set, and sets them again only when it starts",
        may_fail=True,
    )
    again = TuneHost(raid5(attributes=parity()), files={RULES: (text_of(plan, RULES) or "").rstrip("\n")})
    assert again.knob("md125", "stripe_cache_size").kept == "4096"
    assert again.knob("md125", "sync_speed_max").kept == "500000"
    plan = forgetting(again, "md125 sync_speed_max")
    assert (text_of(plan, RULES) or "").endswith('="1", ATTR{md/stripe_cache_size}="4096"\n')


def test_the_system() -> None:
    host = TuneHost(limits=(1000, 200_000), files={SYSCTL: "# mine\ndev.raid.speed_limit_min = 2000"})
    plan = planned(keeping(host, "system speed_limit_max=500000"))
    assert [step.command for step in plan.steps] == [
        "echo 500000 > /proc/sys/dev/raid/speed_limit_max",
        f"write {SYSCTL}",
    ]
    assert text_of(plan, SYSCTL) == (
        f"{SYSCTL_HEAD}# mine\ndev.raid.speed_limit_min = 2000\ndev.raid.speed_limit_max = 500000\n"
    )


def test_processors_alike_are_one_line() -> None:
    host = TuneHost(cpus=INTEL)
    words = [f"{name} governor=performance" for name in ("policy0", "policy2")]
    plan = planned(keeping(host, *words))
    line = f"w {POLICIES}/policy*/scaling_governor - - - - performance"
    assert text_of(plan, TMPFILES) == f"{SYSCTL_HEAD}{line}\n"
    assert [step.text for step in plan.steps if step.text] == ["performance", "performance"]
    host = TuneHost(cpus=INTEL, files={TMPFILES: line})
    more = keeping(host, "policy0 governor=powersave", "policy0 max_freq_khz=3000000")
    assert text_of(more, TMPFILES) == (
        f"{SYSCTL_HEAD}w {POLICIES}/policy0/scaling_governor - - - - powersave\n"
        f"w {POLICIES}/policy2/scaling_governor - - - - performance\n"
        f"w {POLICIES}/policy0/scaling_max_freq - - - - 3000000\n"
    )
    less = forgetting(host, "policy2 governor")
    assert text_of(less, TMPFILES) == (
        f"{SYSCTL_HEAD}w {POLICIES}/policy0/scaling_governor - - - - performance\n"
    )


def test_one_value_is_forgotten_then_the_last_one() -> None:
    host = TuneHost(files={**DATABASE, RULES: f"{UDEV_HEAD}{HEAD_SDA}\n{SDA}"})
    assert kept_items(host.tuning()) == (
        KeepItem(subject="sda", knob="scheduler", value="none"),
        KeepItem(subject="sda", knob="queue_depth", value="8"),
    )
    plan = planned(forgetting(host, "sda scheduler"))
    assert plan.title == "forgotten: scheduler none (sda)"
    assert plan.notes == ("The present values stay until a reboot.",)
    assert text_of(plan, RULES) == (
        f'{UDEV_HEAD}{HEAD_SDA}\nACTION=="add", SUBSYSTEM=="block", ENV{{DEVTYPE}}=="disk",'
        ' ENV{ID_SERIAL}=="Samsung_SSD_S1", ATTR{device/queue_depth}="8"\n'
    )
    old = f"{UDEV_HEAD}{HEAD_SDA}\n{SDA}\n"
    plan = planned(forgetting(host, "sda scheduler", "sda queue_depth"))
    back = PutFile(
        path=RULES,
        content=old,
        why=f"{RULES} as it was before",
        needs=(digest(RULES, None),),
        proves=(digest(RULES, old),),
    )
    assert plan.steps == (
        RunTool(
            argv=("rm", "--force", "--", RULES),
            why="it no longer keeps anything",
            needs=(digest(RULES, old),),
            proves=(digest(RULES, None),),
            undo=(back,),
        ),
        RunTool(argv=RELOAD.argv, why=RELOAD.why, may_fail=True, undo=(RELOAD,)),
    )
    assert plan.undo == (back, RELOAD)


def test_all_is_forgotten_but_what_others_wrote() -> None:
    host = TuneHost(
        cpus=INTEL,
        files={
            **DATABASE,
            RULES: f'{UDEV_HEAD}KERNEL=="sdx", ATTR{{queue/nomerges}}="2"\n# Elsewhere, S9\n{ELSEWHERE}',
            SYSCTL: "dev.raid.speed_limit_max = 500000",
            TMPFILES: f"w {POLICIES}/policy*/scaling_governor - - - - performance\n# mine",
        },
    )
    plan = planned(forgetting(host))
    assert plan.title == "forgotten: everything that raidtui kept"
    assert [step.command for step in plan.steps] == [
        f"write {RULES}",
        "udevadm control --reload",
        f"rm --force -- {SYSCTL}",
        f"write {TMPFILES}",
    ]
    assert text_of(plan, RULES) == f'{UDEV_HEAD}KERNEL=="sdx", ATTR{{queue/nomerges}}="2"\n'
    assert text_of(plan, TMPFILES) == f"{SYSCTL_HEAD}# mine\n"


def test_what_was_changed_for_now_is_what_is_kept_without_a_name() -> None:
    path = f"{BLOCK}/sda/device/queue_depth"
    host = TuneHost(files=DATABASE, nodes={"sda": {"device/queue_depth": "8"}})
    changed = {path: ChangedValue(path=path, before="32", value="8", by=By.NOW)}
    assert items_for_now(host.tuning(changed)) == (KeepItem(subject="sda", knob="queue_depth"),)
    assert items_for_now(host.tuning()) == ()
    assert refused(keeping(host)) == "nothing was set for now; name what to keep: sda scheduler"


def test_what_can_be_kept_is_kept_and_the_rest_is_said() -> None:
    """One disk without a serial number, and one knob that no file sets, are no reason to keep nothing."""
    host = TuneHost(cpus=INTEL, files={**DATABASE, udev("sdc"): "E:ID_MODEL=none"})
    plan = planned(keeping(host, "sda timeout=60", "sdc timeout=60", "cpu driver_mode", "md127 bitmap"))
    assert plan.title == "kept: timeout 60 (sda)"
    assert plan.notes[-3:] == (
        "Not kept: timeout of sdc: sdc has neither a serial number nor a WWN that a udev rule could match.",
        (
            "Not kept: driver_mode of cpu: the driver's mode is kept on the kernel command line:"
            " intel_pstate=MODE or amd_pstate=MODE."
        ),
        "Not kept: bitmap of data: the bitmap is part of the array's superblock and needs no keeping.",
    )
    assert not any("sdc" in step.path for step in plan.steps)


def test_what_lasts_by_itself_was_not_set_for_now() -> None:
    """A cache's mode and the driver's are both kept by no file; the mode lasts, and the driver's does not."""
    run = Setting(by=By.RUN, value="writeback")
    lasting = Value(text="writeback", set_by=run, at_boot="writeback")
    cache = Subject(scope=KnobScope.CACHE, name="bcache0", title="bcache0", values={"cache_mode": lasting})
    passing = Value(text="passive", set_by=run, at_boot="active")
    cpu = Subject(scope=KnobScope.CPU, name="cpu", title="cpu", values={"driver_mode": passing})
    assert items_for_now(Tuning(subjects=(cache, cpu))) == (KeepItem(subject="cpu", knob="driver_mode"),)


def test_what_was_set_for_now_and_cannot_be_kept_is_said() -> None:
    host = TuneHost(
        files={**DATABASE, udev("sdc"): "E:ID_MODEL=none"},
        nodes={"sda": {"device/queue_depth": "8"}, "sdc": {"device/queue_depth": "8"}},
    )
    paths = [f"{BLOCK}/{name}/device/queue_depth" for name in ("sda", "sdc")]
    tuning = host.tuning({path: ChangedValue(path=path, before="32", value="8") for path in paths})
    plan = planned(plan_keep(host.snapshot(), tuning, items_for_now(tuning)))
    assert plan.title == "kept: queue_depth 8 (sda)"
    assert plan.notes[-1].startswith("Not kept: queue_depth of sdc: ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("sda", "there is no knob ''; there are: "),
        ("sda queue_depth=64", "queue_depth of sda must be from 1 to 32, not 64"),
        ("sdz timeout=60", "there is no sdz here"),
        ("sdc timeout=60", "sdc has neither a serial number nor a WWN that a udev rule could match"),
        ("md127 bitmap", "the bitmap is part of the array's superblock and needs no keeping"),
        ("md127 sync_speed_max", "data follows the system's limits, so there is nothing to keep"),
        (
            "cpu driver_mode",
            "the driver's mode is kept on the kernel command line: intel_pstate=MODE or amd_pstate=MODE",
        ),
    ],
)
def test_refused(words: str, sentence: str) -> None:
    host = TuneHost(cpus=INTEL, files={**DATABASE, udev("sdc"): "E:ID_MODEL=none"})
    assert refused(keeping(host, words)).startswith(sentence)


def test_refused_for_what_the_host_is() -> None:
    host = TuneHost(cpus=INTEL, systemd=False)
    assert refused(keeping(host, "policy0 governor=performance")) == (
        "governor is kept by systemd's tmpfiles.d, and this host does not run systemd;"
        " set it in a script that runs at boot"
    )
    host = TuneHost(files={**DATABASE, RULES: f"{UDEV_HEAD}{HEAD_SDA}\n{SDA}"},
                    nodes={"sda": {"queue/scheduler": "[none]", "device/queue_depth": "8"}})  # fmt: skip
    assert refused(keeping(host, "sda scheduler=none", "sda queue_depth")) == "everything is already kept"
    assert refused(forgetting(host, "sda timeout")) == "raidtui does not keep timeout of sda"
    assert refused(forgetting(host, "sdz timeout")) == "there is no sdz here"
    assert refused(forgetting(TuneHost())) == "raidtui keeps nothing here"
    mere = TuneHost(writable=False)
    assert refused(keeping(mere, "sda timeout=60")) == "needs root; run it as: sudo raidtui"
    assert refused(forgetting(mere)) == "needs root; run it as: sudo raidtui"


def test_two_disks_of_one_serial_number() -> None:
    twin = "E:ID_SERIAL=Bridge_0000"
    host = TuneHost(files={udev("sda"): twin, udev("sdb"): twin})
    assert refused(keeping(host, "sda timeout=60")) == (
        "sda and sdb have the same serial number: a rule would match all of them"
    )


def test_who_will_overrule_it() -> None:
    files = {
        **DATABASE,
        "/etc/udev/rules.d/99-late.rules": 'KERNEL=="sda", ATTR{queue/scheduler}="bfq"',
        "/etc/udev/rules.d/10-early.rules": 'KERNEL=="sda", ATTR{device/timeout}="60"',
    }
    plan = planned(keeping(TuneHost(files=files), "sda scheduler=none", "sda timeout=180"))
    assert plan.notes == (
        "With a new scheduler the kernel resets nr_requests.",
        ("/etc/udev/rules.d/99-late.rules:1 sets scheduler too, later at boot, so that its value wins."),
    )


def test_a_driver_is_set_before_its_governors() -> None:
    boost = f"{CPUS}/intel_pstate/hwp_dynamic_boost"
    host = TuneHost(cpus=INTEL, files={boost: "0"})
    plan = keeping(host, "policy0 governor=performance", "cpu hwp_dynamic_boost=1")
    assert text_of(plan, TMPFILES) == (
        f"{SYSCTL_HEAD}w {boost} - - - - 1\nw {POLICIES}/policy0/scaling_governor - - - - performance\n"
    )


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        ("Samsung_SSD_S1", "Samsung_SSD_S1"),
        ('a"b\\c*d[e]f|g', "a?b?c?d?e?f?g"),
        ("$kernel%k", "?kernel?k"),
        ("Grün S1", "Gr?n S1"),
    ],
)
def test_signs_that_mean_something_to_udev(text: str, matched: str) -> None:
    assert rule_match(("ENV{ID_SERIAL}", text)) == ("ENV{ID_SERIAL}", matched)


def test_a_file_reads_as_it_was_written() -> None:
    entries = [
        KeptEntry(match=("ATTR{wwid}", "naa.1"), comment="one", values={"queue/scheduler": "none"}),
        KeptEntry(match=("ATTR{md/uuid}", "a-b"), comment="array two", values={"md/group_thread_cnt": "4"}),
    ]
    others = ["# mine", 'KERNEL=="sdx", ATTR{queue/nomerges}="2"']
    text = udev_text(entries, others)
    assert udev_entries(text) == (entries, others)
    assert udev_text(*udev_entries(text)) == text
    assert udev_text([KeptEntry(match=("ATTR{wwid}", "naa.1"), comment="one", values={})]) == ""
