"""What advice is made from, read once; tools that hang are given up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct

from raidtui.features.advice.advice import Advice, HostFacts
from raidtui.features.advice.advice_rules import advise
from raidtui.features.advice.ignored import (
    Ignored,
    IgnoredAdvice,
    IgnoredError,
    ignored_path,
    read_ignored,
    why_ignored,
)
from raidtui.host.block import BLOCK
from raidtui.host.check_times import read_next_check
from raidtui.host.controllers import read_hidden_nvme, read_ide_disks
from raidtui.host.drive_caches import read_drive_caches
from raidtui.host.md.conf_devices import device_words, left_out
from raidtui.host.md.configured import conf_entries, read_configured, unknown_words
from raidtui.host.mounts import mount_options
from raidtui.host.on_top import read_trim_timer
from raidtui.host.readers.host_reader import READONLY, HostReader
from raidtui.host.watch_facts import read_watchers
from raidtui.jobs.journal import who
from raidtui.jobs.last_look import keep_look
from raidtui.model.advice_count import AdviceCount
from raidtui.model.finding import Severity
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.stack import Stack, StackKind
from raidtui.model.survey import Survey
from raidtui.monitor.boot.boot_check import look_at_boot
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.stack.stack_reader import StackReader
from raidtui.monitor.tuning_reader import TuningReader
from raidtui.monitor.wear.ledger import LedgerError
from raidtui.monitor.wear.ledger_entries import DAY_S, LedgerEntry
from raidtui.monitor.wear.readings import WearReader
from raidtui.plans.bitmap import plan_bitmap
from raidtui.plans.tune.findings import judge_tuning
from raidtui.watch.host_thread import HostThread
from raidtui.watch.session import Session

T = TypeVar("T")


class AdviceLook(Struct, frozen=True, kw_only=True):
    """What was found on a host.

    Args:
        reported: what is not ignored, the worst first.
        ignored: what is, with who has said so.
        unread: what could not be read, a sentence each.
        at_s: when it was read, epoch seconds.
    """

    reported: tuple[Advice, ...]
    ignored: tuple[tuple[Advice, Ignored], ...] = ()
    unread: tuple[str, ...] = ()
    at_s: float = 0.0


class AdviceSession:
    """Reads the advice for a host, in a thread of its own: of a host in memory, in the sampling's.

    Args:
        session: of the host.
    """

    def __init__(self, session: Session) -> None:
        self._loop = loop = session.loop
        self._reader = loop.reader.thread_safe_copy() or loop.reader
        self._thread = HostThread()  # never closed: a tool that hangs must not keep raidtui from ending

    async def look(self) -> AdviceLook:
        """Return what is found now."""
        return await self._work(lambda: read_advice(self._reader, keeps=self.keeps))

    @property
    def keeps(self) -> bool:
        """Whether what is ignored is kept: only of the live host."""
        return self._reader.live

    def why_not_kept(self) -> str:
        """Return why nothing can be ignored on this host; "" where it can."""
        if self._reader.readonly:
            return READONLY
        return "" if self.keeps else "this is not the live host, so ignored advice is not kept here"

    async def ignore(self, each: Advice, days: float | None, why: str) -> None:
        """Ignore a piece of advice.

        Raises:
            IgnoredError: it cannot be kept.
        """
        await self._work(lambda: ignore([each], now_s=self._reader.now_s(), days=days, why=why))

    async def unignore(self, row: Ignored) -> None:
        """Heed a piece of advice again.

        Raises:
            IgnoredError: it cannot be kept.
        """
        await self._work(lambda: forget((row,)))

    async def _work(self, work: Callable[[], T]) -> T:
        return await (self._thread.run(work) if self._reader.live else self._loop.on_host_thread(work))


def mending(survey: Survey, each: Advice) -> Plan | Refusal | None:
    """Return the plan that ``each.order`` prints, or why there is none; None where it has no order."""
    if each.order[:2] != ("plan", "bitmap"):
        return None
    *_, label, kind = each.order
    array = next((array for array in survey.snapshot.arrays if array.title == label), None)
    if array is None:
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"{label} is no longer there")
    return plan_bitmap(survey, array, kind)


def read_advice(reader: HostReader, *, keeps: bool) -> AdviceLook:
    """Return the advice for a host.

    Args:
        reader: the host.
        keeps: whether what is ignored on it is kept here: on the live host alone.
    """
    found, unread = _advice(reader)
    try:
        rows = read_ignored() if keeps else ()
    except IgnoredError as error:
        rows, unread = (), (*unread, str(error))
    now_s = reader.now_s()
    split = [(each, why_ignored(each, rows, now_s)) for each in found]
    reported = tuple(each for each, row in split if row is None)
    if keeps and not reader.readonly:
        try:
            keep_look(_counted(reported, now_s))
        except OSError as error:
            unread = (*unread, f"how much advice there is cannot be kept: {error.strerror}")
    return AdviceLook(
        reported=reported,
        ignored=tuple((each, row) for each, row in split if row is not None),
        unread=unread,
        at_s=now_s,
    )


def _counted(advice: Sequence[Advice], at_s: float) -> AdviceCount:
    found = [each.severity for each in advice]
    return AdviceCount(
        at_s=at_s,
        attention=found.count(Severity.ATTENTION),
        degraded=found.count(Severity.DEGRADED),
        failed=found.count(Severity.FAILED),
    )


def ignore(advice: Sequence[Advice], *, now_s: float, days: float | None = None, why: str = "") -> None:
    """Ignore pieces of advice from now on.

    Args:
        advice: those.
        now_s: epoch seconds.
        days: for how long; None for good.
        why: the user's reason, for others.

    Raises:
        IgnoredError: it cannot be kept.
    """
    rows = [
        Ignored(
            code=str(each.code),
            key=each.key,
            subject=each.subject,
            severity=int(each.severity),
            who=who(),
            why=why,
            at_s=now_s,
            until_s=None if days is None else now_s + days * DAY_S,
        )
        for each in advice
    ]
    with IgnoredAdvice(ignored_path()) as file:
        file.ignore(rows)


def unignore(code: str, about: str) -> tuple[Ignored, ...]:
    """Heed again what is ignored; return that.

    Args:
        code: of the advice.
        about: what it is about; "" for all with that code.

    Raises:
        IgnoredError: it cannot be read, or kept.
    """
    rows = tuple(row for row in read_ignored() if row.code == code and about in {"", row.subject, row.key})
    if rows:
        forget(rows)
    return rows


def forget(rows: Sequence[Ignored]) -> None:
    """Heed again what these rows say.

    Raises:
        IgnoredError: it cannot be kept.
    """
    with IgnoredAdvice(ignored_path()) as file:
        file.unignore(rows)


def _advice(reader: HostReader) -> tuple[tuple[Advice, ...], tuple[str, ...]]:
    snapshot = Sampler(reader).sample()
    look = StackReader(reader).look({array.name: array for array in snapshot.arrays}, wait=True)
    stack: Stack = look.meter.now
    tuning = TuningReader(reader).read(snapshot)
    disks = _below_arrays(stack)
    ages, unaged = _ages(reader)
    places = [place for node in stack.nodes.values() for place in node.file_system.mounts]
    configured = read_configured(reader)
    words = device_words(conf_entries(reader)[1])
    members = [member.name for array in snapshot.arrays for member in array.members]
    watchers = read_watchers(reader)
    facts = HostFacts(
        snapshot=snapshot,
        stack=stack,
        stack_findings=look.findings,
        tune_findings=judge_tuning(tuning),
        configured=configured,
        device_words=words,
        left_out=left_out(reader, words, members),
        not_listed={
            line.where: left_out(reader, line.devices, members) for line in configured if line.devices
        },
        unknown_words=unknown_words(reader),
        trim_timer=read_trim_timer(reader),
        options={place: options for place in places if (options := mount_options(reader, place))},
        watchers=watchers,
        next_check=read_next_check(reader, watchers),
        hidden_nvme=read_hidden_nvme(reader),
        ide_disks=read_ide_disks(reader, disks),
        tuning=tuning,
        ages=ages,
        drive_caches=read_drive_caches(reader, disks),
        boot=look_at_boot(reader, snapshot, stack).verdicts,
    )
    unread: tuple[str, ...] = () if snapshot.readable else ("/proc/mdstat could not be read",)
    if not reader.names(BLOCK):
        unread += ("no block device was found: the rules need more than /proc/mdstat",)
    return advise(facts), (*unread, *stack.unknown, *unaged)


def _ages(reader: HostReader) -> tuple[dict[str, LedgerEntry], tuple[str, ...]]:
    """Return the last reading of each disk that raidtui's history has; no disk is asked."""
    try:
        return {each.disk: each for each in WearReader(reader).known()}, ()
    except LedgerError as error:
        return {}, (str(error),)


def _below_arrays(stack: Stack) -> tuple[str, ...]:
    arrays = (name for name, node in stack.nodes.items() if node.kind is StackKind.MD)
    below = {disk for name in arrays for disk in stack.below(name)}
    return tuple(name for name, node in stack.nodes.items() if name in below and node.kind is StackKind.DISK)
