"""``raidtui tune``: what is shown, written, refused, and the document of it."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raidtui.app.cli import run
from raidtui.jobs.plan_file import load_plan
from raidtui.model.knob import By
from raidtui.model.knob_table import KNOBS, OUR_FILES
from raidtui.plans.tune.profiles import BUILT_IN
from tests.hosts.kernel import ends
from tests.hosts.specs import raid0, raid5
from tests.hosts.tune_host import BLOCK, FOUR, INTEL, RULES, TuneHost, parity
from tests.places import HOUSE

DOC = (HOUSE / "docs" / "tune.md").read_text(encoding="utf-8")
SDA_BY = "kernel; scheduler, queue_depth, nr_requests: not known"
SDC_BY = "kernel; queue_depth: 60-ssd.rules:1"
VM = raid5(label="vm", members=("sde", "sdf", "sdg"), attributes=parity(), bitmap=(0, 1))

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the way back is."""
    found = tmp_path / "run" / "tune.json"
    monkeypatch.setattr("raidtui.jobs.undo_record.record_path", lambda: found)
    monkeypatch.setattr("raidtui.jobs.journal.journal_path", lambda: tmp_path / "journal.jsonl")
    monkeypatch.setenv("COLUMNS", "92")
    return found


@pytest.fixture
def tune(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: Path) -> Run:
    """Run an order on a host; exit status and both outputs."""

    def order(host: TuneHost, words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("raidtui.app.cli.open_root", lambda _: host)
        status = run(["tune", *words.split()])
        reported = capsys.readouterr()
        return status, reported.out, reported.err

    return order


def test_all_at_a_glance(tune: Run) -> None:
    host = TuneHost(
        FOUR,
        VM,
        raid0(members=("nvme0n1", "nvme1n1")),
        cpus=INTEL,
        nodes={"sdc": {"device/queue_depth": "1"}, "sda": {"queue/scheduler": "[none] mq-deadline"}},
        files={"/etc/udev/rules.d/60-ssd.rules": 'KERNEL=="sdc", ATTR{device/queue_depth}="1"'},
    )
    status, out, err = tune(host, "show")
    assert (status, err) == (0, "")
    assert out.rstrip("\n").split("\n") == [
        "disk      scheduler      NCQ    requests  ahead    timeout/ERC   set by",
        f"{'sda       none ▲         32     64        128K     30 / ? s':<65}{SDA_BY}",
        "sdb       mq-deadline    32     64        128K     30 / ? s      kernel; queue_depth: not known",
        f"{'sdc       mq-deadline    1 ▲    64        128K     30 / ? s':<65}{SDC_BY}",
        "sdd       mq-deadline    32     64        128K     30 / ? s      kernel; queue_depth: not known",
        "sde       mq-deadline    32     64        128K     30 / ? s      kernel; queue_depth: not known",
        "sdf       mq-deadline    32     64        128K     30 / ? s      kernel; queue_depth: not known",
        "sdg       mq-deadline    32     64        128K     30 / ? s      kernel; queue_depth: not known",
        "nvme0n1   none           –      1023      128K     –             kernel",
        "nvme1n1   none           –      1023      128K     –             kernel",
        (
            "cpu       policy0, policy2: intel_pstate, governor powersave, energy_performance_preference"
            " balance_performance, min_freq_khz 800000, max_freq_khz 4200000   set by: kernel; governor,"
            " energy_performance_preference: not known"
        ),
        "          driver_mode active   set by: not known",
        "data      bitmap none, sync_speed_min system, sync_speed_max system   set by: kernel",
        (
            "vm        stripe_cache_size 256, group_thread_cnt 0, preread_bypass_threshold 1,"
            " bitmap internal, sync_speed_min system, sync_speed_max system   set by: kernel"
        ),
        "scratch   no knobs",
        "system    speed_limit_min 1000 KiB/s, speed_limit_max 200000 KiB/s   set by: kernel",
        "",
        (
            "info: members of data differ: scheduler (sda none, the others mq-deadline);"
            " queue_depth (sdc 1, the others 32)."
        ),
        "  raidtui tune set @data scheduler=mq-deadline queue_depth=32",
        (
            "info: queue_depth of sdc is 1: NCQ is off. In a published test, a RAID-10 of two"
            " SSDs had a quarter of the IOPS at 1 that it had at 8; a depth that the disk's firmware"
            " cannot handle may cause link resets."
        ),
        "  raidtui tune set sdc queue_depth=32",
        (
            "info: governor of policy0, policy2 is powersave. Under powersave of intel_pstate a published"
            " RAID-10 of SSDs lost 14 to 19 % of its random throughput (Linux 4.4); performance costs power"
            " and heat."
        ),
        "  raidtui tune set governor=performance",
    ]


def test_the_table_and_the_detail_name_the_same_setters(tune: Run) -> None:
    """A row says "kernel" of no knob of which the detail says that it is not known."""
    host = TuneHost(FOUR, nodes={"sda": {"queue/scheduler": "[none] mq-deadline"}})
    row = next(line for line in tune(host, "show")[1].splitlines() if line.startswith("sda "))
    detail = " ".join(tune(host, "show sda")[1].split())
    for knob in ("scheduler", "queue_depth", "nr_requests", "read_ahead_kb", "timeout"):
        own = detail.partition(f" {knob} ")[2].partition(" a reboot")[0]
        assert (knob in row) == ("not known who has set it" in own), knob


def test_everything_about_one(tune: Run) -> None:
    rule = 'ENV{ID_SERIAL_SHORT}=="SSDA0001", ATTR{queue/scheduler}="none"'
    host = TuneHost(
        raid0(members=("sda", "nvme0n1")),
        nodes={"sda": {"queue/scheduler": "[none] mq-deadline"}},
        files={RULES: rule},
    )
    status, out, _ = tune(host, "show sda")
    assert status == 0
    lines = out.split("\n")
    assert lines[:8] == [
        "sda (sata, SSDSC2BB240G4, SSDA0001)",
        "  scheduler none",
        "      One of none, mq-deadline; the kernel's default is mq-deadline; set by",
        "      /etc/udev/rules.d/60-raidtui-io.rules:1, kept by raidtui; a reboot does not change it.",
        "      The order in which requests reach the disk: none leaves it to the disk, mq-deadline",
        "      limits how long a request waits, kyber keeps latencies low, bfq shares the disk among",
        "      processes. bfq and kyber cost CPU time per request; bfq can cost a fast SSD much of",
        "      its IOPS.",
    ]
    assert "      At boot /etc/udev/rules.d/60-raidtui-io.rules:1, kept by raidtui sets none." in lines
    assert "  timeout 30 s" in lines
    status, out, _ = tune(host, "show nvme0n1")
    assert out.split("\n")[-3:-1] == [
        "  timeout",
        "      An NVMe disk has no timeout of its own: nvme_core.io_timeout applies to all of them.",
    ]


def test_set_and_undone(tune: Run, place: Path) -> None:
    host = TuneHost()
    host.live = True
    assert tune(host, "set @data scheduler=none") == (
        0,
        "".join(f"scheduler of {name}: mq-deadline → none\n" for name in ("sda", "sdb", "sdc", "sdd"))
        + "With a new scheduler the kernel resets nr_requests.\n",
        "",
    )
    assert ends(host.writes) == [(f"{name}/queue/scheduler", "none") for name in ("sda", "sdb", "sdc", "sdd")]
    assert place.exists()
    status, out, _ = tune(host, "undo --dry-run")
    assert out.split("\n")[0] == "undone: scheduler none → mq-deadline (sda, sdb, sdc, sdd) (harmless)"
    status, out, _ = tune(host, "undo")
    assert (status, out.split("\n")[0]) == (0, "scheduler of sda: none → mq-deadline")
    assert tune(host, "undo") == (
        2, "", "raidtui: not possible: nothing was changed since the boot that could be undone\n"
    )  # fmt: skip


def test_a_refusal_of_the_kernel(tune: Run) -> None:
    host = TuneHost()
    host.refuses["sda/device/queue_depth"] = errno.EINVAL
    assert tune(host, "set sda queue_depth=8") == (
        1, "queue_depth of sda is not set to 8: the kernel refuses this value; it is 32\n", ""
    )  # fmt: skip
    status, out, _ = tune(host, "set sda queue_depth=8 --json")
    assert status == 1
    assert json.loads(out) == {
        "format_version": 1,
        "title": "queue_depth 32 → 8 (sda)",
        "as_asked": False,
        "changes": [{"subject": "sda", "knob": "queue_depth", "before": "32", "asked": "8", "now": "32"}],
        "files": [],
        "failed": f"echo 8 > {BLOCK}/sda/device/queue_depth",
        "reason": "the kernel refuses this value",
        "sentences": ["queue_depth of sda is not set to 8: the kernel refuses this value; it is 32"],
        "notes": [],
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("set sda queue_depth=64", "queue_depth of sda must be from 1 to 32, not 64"),
        (
            "set sdz scheduler=none",
            "there is no disk or array 'sdz'; disks: sda, sdb, sdc, sdd; arrays: @data",
        ),
        ("show sdz", "there is no disk or array 'sdz'; disks: sda, sdb, sdc, sdd; arrays: @data"),
        ("keep", "nothing was set for now; name what to keep: sda scheduler"),
        ("keep sda", "nothing was set for now; name what to keep: sda scheduler"),
        ("keep sda colour", "there is no disk or array 'colour'; disks: sda, sdb, sdc, sdd; arrays: @data"),
        ("forget", "raidtui keeps nothing here"),
        ("forget sda", "raidtui keeps nothing of sda"),
        ("forget sda timeout", "raidtui does not keep timeout of sda"),
        ("profile fast", "there is no profile 'fast'; there are: ssd-array, kernel-defaults"),
        (
            "profile ssd-array sdz",
            "there is no disk or array 'sdz'; disks: sda, sdb, sdc, sdd; arrays: @data",
        ),
        ("keep sda timeout=60", "this needs a real host: a simulated one has neither files nor tools"),
        (
            "set governor=performance",
            "this host has no cpufreq: the hypervisor or the firmware decides how fast the processors run",
        ),
    ],
)
def test_refused(tune: Run, words: str, sentence: str) -> None:
    host = TuneHost()
    assert tune(host, words) == (2, "", f"raidtui: not possible: {sentence}\n")
    assert host.writes == []


@pytest.mark.parametrize("words", ["set sda timeout=60", "undo", "forget", "keep sda timeout=60"])
def test_who_may(tune: Run, words: str) -> None:
    reported = tune(TuneHost(writable=False), words)
    assert reported == (2, "", "raidtui: not possible: needs root; run it as: sudo raidtui\n")


@pytest.mark.parametrize("words", ["set sda timeout=60", "undo", "forget", "keep sda timeout=60"])
def test_a_capture_is_only_looked_at(tune: Run, words: str) -> None:
    host = TuneHost(writable=False)
    host.source = "nas.tar.gz"
    reported = tune(host, words)
    assert reported == (
        2,
        "",
        "raidtui: not possible: nas.tar.gz is a capture: nothing in it can be changed\n",
    )


def test_a_plan_for_apply(tune: Run, place: Path) -> None:
    host = TuneHost()
    status, out, _ = tune(host, "keep sda timeout=180 --dry-run --json")
    assert status == 0
    plan = load_plan(out.encode()).plan
    assert plan.title == "kept: timeout 180 (sda)"
    assert [step.command for step in plan.steps] == [
        f"echo 180 > {BLOCK}/sda/device/timeout",
        "mkdir --parents /etc/udev/rules.d",
        f"write {RULES}",
        "udevadm control --reload",
    ]
    assert host.writes == []
    assert not place.exists()


def test_what_would_be_kept_is_shown(tune: Run) -> None:
    """What was set for now is meant where nothing is named, or only a disk."""
    host = TuneHost()
    host.live = True
    tune(host, "set sda timeout=180 sdb queue_depth=8")
    for words, title in (
        ("keep --dry-run", "kept: timeout 180 (sda), queue_depth 8 (sdb) (harmless)"),
        ("keep sda --dry-run", "kept: timeout 180 (sda) (harmless)"),
        ("keep sda scheduler --dry-run", "kept: scheduler mq-deadline (sda) (harmless)"),
    ):
        status, out, err = tune(host, words)
        assert (status, out.split("\n")[0]) == (0, title), err
    host.by_hand(RULES, 'ENV{ID_SERIAL_SHORT}=="SSDA0001", ATTR{device/timeout}="180"')
    status, out, err = tune(host, "forget sda --dry-run")
    assert (status, out) == (2, "")
    assert err == (
        f"raidtui: not possible: {RULES} sets it in lines that raidtui did not write; remove those lines\n"
    )


def test_profiles(tune: Run, tmp_path: Path) -> None:
    folder = tmp_path / "config" / "raidtui"
    folder.mkdir(parents=True)
    (folder / "profiles.toml").write_text('[mine]\ndescription = "short"\ndisk.timeout = 60\ndisk.x = 1\n')
    status, out, err = tune(TuneHost(), "profile")
    trouble = f"raidtui: {folder}/profiles.toml: [mine.disk] has no knob 'x'\n"
    assert (status, err) == (0, trouble)
    assert out == (
        f"ssd-array        {BUILT_IN[0].description}\n"
        f"kernel-defaults  {BUILT_IN[1].description}\n"
        f"mine             short ({folder}/profiles.toml)\n"
    )
    status, out, _ = tune(TuneHost(), "profile --json")
    assert [each["name"] for each in json.loads(out)["profiles"]] == ["ssd-array", "kernel-defaults", "mine"]
    status, out, _ = tune(TuneHost(), "profile mine sda")
    assert (status, out) == (0, "timeout of sda: 30 → 60\n")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("profile ssd-array", "everything is already as ssd-array sets it"),
        ("set sda scheduler=mq-deadline", "scheduler of sda is already mq-deadline"),
        ("set sda timeout=30 queue_depth=32", "all values are already so"),
    ],
)
def test_what_is_so_already_is_done(tune: Run, words: str, why: str) -> None:
    host = TuneHost()
    assert tune(host, words) == (0, f"nothing to change: {why}\n", "")
    assert tune(host, f"{words} --dry-run") == (0, f"nothing to change: {why}\n", "")
    status, out, _ = tune(host, f"{words} --json")
    assert (status, json.loads(out)) == (
        0,
        {
            "format_version": 1, "title": "nothing to change", "as_asked": True, "changes": [], "files": [],
            "failed": None, "reason": None, "sentences": [f"nothing to change: {why}"],
            "notes": [],
        },
    )  # fmt: skip
    status, out, _ = tune(host, f"{words} --dry-run --json")
    assert (status, load_plan(out.encode()).plan.steps) == (0, ())
    assert host.writes == []


def test_the_timeouts_of_disks(tune: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.features.tune.cli.ask_erc", lambda _, disks: dict.fromkeys(disks))
    status, out, _ = tune(TuneHost(), "show --erc")
    assert status == 0
    assert out.split("\n")[1].startswith("sda       mq-deadline    32     64        128K     30 / – s")
    assert "info: sda, sdb, sdc, sdd may retry a bad sector for minutes (SCT ERC is missing)," in out


# The document.


def cells(heading: str) -> list[str]:
    """The first cells of the table below a heading."""
    part = re.split(r"\n#+ ", DOC.partition(f"\n{heading}\n")[2])[0]
    return re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE)


@pytest.mark.parametrize("known", [True, False])
def test_a_journal_that_cannot_be_written_is_said(
    tune: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, known: bool
) -> None:
    """Before the change, where that can be known, and by the undo as well."""
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "journal.jsonl"
    monkeypatch.setattr("raidtui.jobs.journal.journal_path", lambda: path)
    if not known:
        monkeypatch.setattr("raidtui.jobs.journal.Journal.look", lambda _: "")
    host = TuneHost()
    host.live = True
    when = "will not be" if known else "was not"
    said = f"raidtui: journal {path}: File exists; this change {when} noted there\n"
    for words in ("set sda scheduler=none", "undo"):
        status, _, err = tune(host, words)
        assert (status, err.endswith(said), err.count("noted there")) == (0, True, 1)


def test_the_document_names_every_knob_and_every_setter() -> None:
    assert cells("## Knobs") == list(KNOBS)
    assert cells("## Who has set it") == [str(by) for by in By]
    assert cells("## For good") == list(OUR_FILES.values())


def test_the_document_names_every_field(tune: Run) -> None:
    _, out, _ = tune(TuneHost(cpus=INTEL), "show --json")
    shown: dict[str, Any] = json.loads(out)
    assert cells("## `tune show --json`") == list(shown)
    for subject in shown["subjects"]:
        assert cells("### each of `subjects`") == list(subject)
        for value in subject["knobs"].values():
            assert cells("### each of `knobs`") == list(value)
            assert list(value["set_by"]) == ["by", "where", "value", "raidtui", "sure", "running"]
    _, out, _ = tune(TuneHost(), "set sda timeout=60 --json")
    assert cells("## `tune set --json` and the others that write") == list(json.loads(out))


def test_the_document_names_every_code() -> None:
    source = HOUSE / "raidtui" / "plans" / "tune" / "findings.py"
    codes = re.findall(r'"(tune-[a-z-]+)"', source.read_text())
    assert sorted(cells("### codes of findings")) == sorted(codes)
