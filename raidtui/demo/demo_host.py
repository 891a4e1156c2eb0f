"""The demo's root: a tree that the simulated kernel keeps up to date."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from raidtui.demo import control, sim_mdadm, sim_smart
from raidtui.demo.kernel import SimKernel
from raidtui.demo.sim_bcache import account_bcache
from raidtui.demo.sim_cpufreq import CPUINFO
from raidtui.demo.sim_journal import journal_text
from raidtui.demo.sim_stack import tool_output
from raidtui.demo.story import Story, begin
from raidtui.demo.tree import live_files, still_files
from raidtui.host.readers.host_reader import Listener
from raidtui.host.readers.simulated_reader import SimulatedReader
from raidtui.host.tools import ToolOutput

KERNEL = "6.12.3"
HOSTNAME = "demo"
_SOON_S = 0.05  # the reads of one sample belong to one moment
_AFTER_S = 0.001  # the end is an estimate: come just after it


class DemoReader(SimulatedReader):
    """A simulated host. A read advances it to the present time; a write goes to its kernel.

    Not thread-safe: one thread reads and writes, as with ``Sampler``.

    Args:
        kernel: the simulated kernel.
        story: the events that happen by themselves.
        clock: monotonic seconds.
        now: epoch seconds.
    """

    def __init__(
        self, kernel: SimKernel, story: Story, *, clock: Callable[[], float], now: Callable[[], float]
    ) -> None:
        super().__init__(_constant_files(), source="demo")
        self._epoch_s = now()
        self.simulated = kernel
        self._story = story
        self._clock = clock
        self._now = now
        self._began_s = clock()
        self._generation = -1
        self._still: dict[str, str] = {}
        self._live: AbstractSet[str] = set()
        self._ticking = False
        account_bcache(kernel, 0.0)
        self._publish()

    @property
    def writable(self) -> bool:
        """See ``HostReader.writable``."""
        return True

    def now_s(self) -> float:
        """See ``HostReader.now_s``."""
        return self._now()

    def next_event_s(self) -> float | None:
        """See ``HostReader.next_event_s``: until the next step of the story or the expected end of a sync."""
        kernel = self.simulated
        behind_s = self._clock() - self._began_s - kernel.now_s
        due = [self._story.next_at_s - kernel.now_s]
        if (end_s := kernel.next_end_s()) is not None:
            due.append(end_s + _AFTER_S)
        return max(0.0, min(due) - behind_s)

    def subscribe(self, callback: Listener) -> Callable[[], None]:
        """See ``HostReader.subscribe``.

        The callback is called from ``tick``, ``read`` and ``take_value``, before the files are rewritten: it
        must not read.
        """
        return self.simulated.subscribe(callback)

    def tick(self) -> None:
        """Advance to the present time."""
        self._catch_up(0.0)

    def _catch_up(self, noticeable_s: float) -> None:
        until_s = self._clock() - self._began_s
        if self._ticking or until_s - self.simulated.now_s < noticeable_s:
            return
        self._ticking = True
        try:
            since_s = self.simulated.now_s
            self._story.play(self.simulated, until_s)
            account_bcache(self.simulated, self.simulated.now_s - since_s)
            self._publish()
        finally:
            self._ticking = False

    def take_tool(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        """See ``SimulatedReader.take_tool``: what may be asked, and the changes of ``sim_mdadm.TOOLS``."""
        return self._asked(*argv, timeout_s=timeout_s, stdin=stdin)

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        if argv[0] in {"dmsetup", "lvs"}:
            self._catch_up(0.0)
            return ToolOutput(argv=argv, status=0, stdout=tool_output(self.simulated, argv), stderr="")
        if argv[0] in sim_mdadm.TOOLS:
            return self._change(argv, stdin)
        if argv[0] == "journalctl":
            text = journal_text(self._epoch_s, *(_limit(argv, name) for name in ("--since", "--until")))
            return ToolOutput(argv=argv, status=0, stdout=text, stderr="")
        if argv[0] != "smartctl":
            return super()._asked(*argv, timeout_s=timeout_s, stdin=stdin)
        self._catch_up(0.0)
        status, text = sim_smart.smartctl(self.simulated, argv)
        return ToolOutput(argv=argv, status=status, stdout=text, stderr="")

    def _change(self, argv: tuple[str, ...], stdin: str) -> ToolOutput:
        """Run a tool that may change the host."""
        self._catch_up(0.0)
        self._ticking = True
        try:
            return sim_mdadm.run_tool(self.simulated, argv, stdin)
        finally:
            self._ticking = False
            self._publish()

    def read(self, path: str, *, keep: bool = False) -> bytes:
        """See ``HostReader.read``."""
        if path == sim_smart.HISTORY:
            return sim_smart.history(self.simulated, self._epoch_s).encode()
        self._catch_up(0.0 if path == "/proc/mdstat" else _SOON_S)
        return super().read(path, keep=keep)

    def take_value(self, path: str, text: str) -> None:
        """See ``SimulatedReader.take_value``; errors are md's."""
        self._catch_up(0.0)
        super().read(path)  # ENOENT for no such file
        self._ticking = True
        try:
            control.write(self.simulated, path, text)
        except OSError as error:
            code = error.errno or errno.EIO
            raise OSError(code, os.strerror(code), path) from None
        finally:
            self._ticking = False
            self._publish()

    def keep(self, path: str, content: str) -> None:
        """Put a configuration file in place, in memory; a job of this host writes none elsewhere.

        Args:
            path: of the file.
            content: its bytes, as latin-1: see ``Survey.texts``.
        """
        self.simulated.texts[path] = content
        self.put(path, content.encode("latin-1"))

    def _publish(self) -> None:
        """Rewrite the files that have changed."""
        live = dict(live_files(self.simulated))
        for path, text in live.items():
            self.put(path, text)
        if self._generation == self.simulated.generation:
            return
        self._generation = self.simulated.generation
        files, links = still_files(self.simulated)
        for path in self._links.keys() - links.keys():
            del self._links[path]
            self._forget(path)
        for path in (self._still.keys() | self._live) - files.keys() - live.keys():
            self._forget(path)
        self._live = live.keys()
        for path, text in files.items():
            if self._still.get(path) != text:
                self.put(path, text)
        for path, target in links.items():
            if path not in self._links:
                self._enter(path)
            self._links[path] = target
        self._still = files

    def _forget(self, path: str) -> None:
        """Remove a file or link, and the folders that become empty."""
        if not self.names(path):
            self.drop(path)
        folder = path.rpartition("/")[0]
        if folder and not self.names(folder) and folder not in self._links:
            self._forget(folder)


def _limit(argv: tuple[str, ...], name: str) -> float | None:
    """Return a time that journalctl is given as seconds (``--since=@1764000000``)."""
    return next((float(word.partition("=@")[2]) for word in argv if word.startswith(f"{name}=@")), None)


def demo_root(
    clock: Callable[[], float] = time.monotonic, now: Callable[[], float] = time.time, seed: int = 1
) -> DemoReader:
    """Return a host at the start of its story.

    Args:
        clock: monotonic seconds; the story starts now.
        now: epoch seconds.
        seed: the seed of the noise in the speeds.
    """
    return DemoReader(begin(seed), Story(), clock=clock, now=now)


def _constant_files() -> dict[str, str]:
    return {
        "/proc/sys/kernel/hostname": f"{HOSTNAME}\n",
        "/proc/sys/kernel/random/boot_id": f"{sim_smart.BOOT_ID}\n",
        "/proc/sys/kernel/osrelease": f"{KERNEL}\n",
        "/proc/swaps": "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n",
        "/proc/cpuinfo": CPUINFO,
        "/sys/module/md_mod/parameters/start_ro": "0\n",
    }
