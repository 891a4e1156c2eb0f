"""Measure one run of a full-screen program as its terminal sees it.

While the program works, its output is only time-stamped, stored and, where it is a query, answered.  The
terminal emulator is fed with the stored chunks in pauses, so parsing never competes with the program.  Times
count from exec.
"""

import contextlib
import os
import select
import statistics
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.launch import NOT_STARTED, Launched, launch
from benchmarks.procfs import cpu_time, host_time, memory_mib, wakeups
from benchmarks.records import Measurement, Script
from benchmarks.replay import Milestones, Replay
from benchmarks.terminal import Answers, key_bytes, modes_left

GATE_S = 0.02  # lets the children reach their gate before the clock starts
TYPE_AHEAD_S = (0.02, 1.0)  # when keys are sent to a program that is still starting
TYPE_AHEAD_EVERY_S = 0.02
KEY_LIMIT_S = 2.0
QUIT_LIMIT_S = 5.0
MINUTE_S = 60.0


class Probe:
    """One program in one terminal: start it, wait, press keys, quit."""

    def __init__(self, argv: tuple[str, ...], script: Script, *, env: Mapping[str, str], cwd: Path) -> None:
        """Prepare the program up to its exec."""
        self.script = script
        self.chunks: list[tuple[float, bytes]] = []
        self.replay = Replay(script)
        self.ended_s: float | None = None
        self._answers = Answers(columns=script.columns, lines=script.lines)
        self._launched: Launched = launch(argv, columns=script.columns, lines=script.lines, env=env, cwd=cwd)
        if script.speed is not None:
            modes = termios.tcgetattr(self._launched.slave_fd)
            modes[4] = modes[5] = script.speed
            termios.tcsetattr(self._launched.slave_fd, termios.TCSANOW, modes)
        self._before = termios.tcgetattr(self._launched.slave_fd)
        self._pidfd = os.pidfd_open(self.pid)
        self._poll = select.poll()
        self._poll.register(self._launched.master_fd, select.POLLIN)
        self._poll.register(self._pidfd, select.POLLIN)
        self._start_s = 0.0

    @property
    def pid(self) -> int:
        """The program's process id."""
        return self._launched.program_pid

    def start(self) -> None:
        """Let the program exec; times count from here."""
        time.sleep(GATE_S)
        self._start_s = time.perf_counter()
        self._launched.start()

    def now_s(self) -> float:
        """Seconds since exec."""
        return time.perf_counter() - self._start_s

    def pump(self, timeout_s: float) -> None:
        """Wait for output or the end, at most this long; store and answer what comes."""
        for fd, _ in self._poll.poll(max(0.0, timeout_s) * 1000):
            if fd == self._pidfd:
                self.ended_s = self.now_s()
                self._poll.unregister(fd)
                continue
            with contextlib.suppress(BlockingIOError):
                data = os.read(fd, 65536)
                self.chunks.append((self.now_s(), data))
                self._write(self._answers.to(data))

    def wait(self, until: Callable[[], bool], *, limit_s: float) -> bool:
        """Pump until something holds, the program ends or `limit_s` (since exec) is reached."""
        while not until():
            if self.ended_s is not None or self.now_s() >= limit_s:
                return False
            self.pump(min(0.05, limit_s - self.now_s()))
        return True

    def wait_quiet(self, *, limit_s: float) -> bool:
        """Pump until there has been output and then none for the script's `quiet_s`."""
        quiet_s = self.script.quiet_s
        return self.wait(
            lambda: bool(self.chunks) and self.now_s() - self.chunks[-1][0] >= quiet_s, limit_s=limit_s
        )

    def keys(self, *names: str) -> float:
        """Send keys; return the time, in seconds since exec."""
        at_s = self.now_s()
        cursor = self._answers.application_cursor
        self._write(b"".join(key_bytes(name, application_cursor=cursor) for name in names))
        return at_s

    def quit(self, key: str) -> float | None:
        """Press the key that ends the program; return the ms until it ended, None if it did not."""
        at_s = self.keys(key)
        self.wait(lambda: self.ended_s is not None, limit_s=at_s + QUIT_LIMIT_S)
        seen = -1
        while seen != len(self.chunks):
            seen = len(self.chunks)
            self.pump(0.02)
        return None if self.ended_s is None else (self.ended_s - at_s) * 1000

    def exit_code(self) -> int | None:
        """The program's exit code once it has ended."""
        return None if self.ended_s is None else self._launched.wait_status()

    def termios_restored(self) -> bool:
        """Whether the terminal line has the settings from before the start."""
        return termios.tcgetattr(self._launched.slave_fd) == self._before

    def close(self) -> None:
        """Kill what still runs."""
        os.close(self._pidfd)
        self._launched.end(kill=self.ended_s is None)

    def _write(self, data: bytes) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._launched.master_fd, data)


def measure(
    argv: tuple[str, ...], script: Script, *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Measurement:
    """Run `argv` once through `script`."""
    before = host_time()
    probe = Probe(argv, script, env=env or {}, cwd=cwd or Path.cwd())
    try:
        probe.start()
        results: dict[str, object] = _measure_start(probe)
        if probe.ended_s is None:
            results |= _measure_rest(probe)
        if probe.ended_s is None and script.keys:
            results |= _measure_keys(probe)
        results |= {"screen": probe.replay.screen.text(), "flash": probe.replay.flashes}
        early = probe.ended_s is not None
        if not early:
            results["quit_ms"] = probe.quit(script.quit_key)
        code = probe.exit_code()
        stream = b"".join(data for _, data in probe.chunks)
        results |= {
            "exit_code": code,
            "termios_restored": probe.termios_restored(),
            "modes_left": modes_left(stream),
        }
        if early or results["first_paint_ms"] is None or (script.expect and results["expect_ms"] is None):
            results |= {"ran": False, "why_not": _why_not(probe, code)}
        results["host_busy_pct"] = host_time().busy_pct_since(before)
    finally:
        probe.close()
    return Measurement(**results)  # type: ignore[arg-type]


def _why_not(probe: Probe, code: int | None) -> str:
    lines = [line.strip() for line in probe.replay.screen.text().splitlines() if line.strip()]
    last = lines[-1] if lines else "a blank screen"
    if code == NOT_STARTED:
        return f"could not be started: {last}"
    if probe.script.expect and code == 0:
        return f"the screen never showed {probe.script.expect!r}; it ended with: {last}"
    return f"ended by itself with exit code {code}: {last}"


def _measure_start(probe: Probe) -> dict[str, object]:
    """From exec to the first pause after the content is there (and, where asked for, the key is answered)."""
    script = probe.script
    seen = Milestones(script)
    settled_s: float | None = None
    if script.answer_key:
        _type_ahead(probe)
    while True:
        calm = probe.wait_quiet(limit_s=script.start_limit_s)
        cpu_s = cpu_time(probe.pid).total_s
        probe.replay.rest(probe.chunks, seen.look)
        calm = calm and probe.now_s() < script.start_limit_s
        if seen.complete or not calm:
            settled_s = probe.chunks[-1][0] if calm else None
            break
        count = len(probe.chunks)  # quiet, but not there yet: importing, say
        probe.wait(lambda count=count: len(probe.chunks) > count, limit_s=script.start_limit_s)  # type: ignore[misc]
    return {
        "first_byte_ms": _ms(probe.chunks[0][0]) if probe.chunks else None,
        "first_paint_ms": _ms(seen.first_s),
        "expect_ms": _ms(seen.expect_s) if script.expect else None,
        "settled_ms": _ms(settled_s),
        "answered_ms": _ms(seen.gone_s) if script.answer_key else None,
        "cpu_start_s": cpu_s if probe.ended_s is None and settled_s is not None else None,
        "start_bytes": sum(len(data) for _, data in probe.chunks),
    }


def _type_ahead(probe: Probe) -> None:
    """Press the key repeatedly while the program starts, because it may discard early input."""
    begin_s, end_s = TYPE_AHEAD_S
    next_s = begin_s
    while probe.ended_s is None and next_s < end_s:
        probe.wait(lambda: False, limit_s=next_s)
        probe.keys(probe.script.answer_key)
        next_s += TYPE_AHEAD_EVERY_S


def _measure_rest(probe: Probe) -> dict[str, object]:
    """Measure the cost of the untouched program for `watch_s`, and its memory."""
    script, results = probe.script, dict[str, object]()
    if script.watch_s:
        from_s = max(script.watch_from_s, probe.now_s())
        if script.within_minute:
            from_s += _until_clear_of_minute_s(from_s - probe.now_s(), script.watch_s)
        probe.wait(lambda: False, limit_s=from_s)
        probe.replay.rest(probe.chunks)
        screen = probe.replay.screen.cells()
        probe.pump(0)
        begin_s, count = probe.now_s(), len(probe.chunks)
        cpu, woken = cpu_time(probe.pid), wakeups(probe.pid)
        probe.wait(lambda: False, limit_s=begin_s + script.watch_s)
        span_s = probe.now_s() - begin_s
        cpu_s, woken = cpu_time(probe.pid).since_s(cpu), wakeups(probe.pid) - woken
        data_bytes = sum(len(data) for _, data in probe.chunks[count:])
        probe.replay.rest(probe.chunks)
        results = {
            "idle_cpu_pct": 100 * cpu_s / span_s,
            "idle_bytes_s": data_bytes / span_s,
            "idle_wakeups_s": woken / span_s,
            "screen_moved": probe.replay.screen.cells() != screen,
        }
    rss, pss = memory_mib(probe.pid)
    return {**results, "rss_mib": rss, "pss_mib": pss}


_DRAWN_S = 6.0


def _until_clear_of_minute_s(wait_s: float, watch_s: float) -> float:
    """Return how long to wait so that no clock is drawn anew during the watch.

    raidtui draws a new minute with the next look at the host, up to five seconds later.
    """
    second = (time.time() + wait_s) % MINUTE_S
    if watch_s >= MINUTE_S - _DRAWN_S - 1 or _DRAWN_S <= second <= MINUTE_S - 1 - watch_s:
        return 0.0
    return (MINUTE_S + _DRAWN_S - second) % MINUTE_S


def _measure_keys(probe: Probe) -> dict[str, object]:
    """Press each key once, in a pause: the time until the screen differs, and the bytes."""
    changes_ms: list[float] = []
    sizes: list[int] = []
    for name in probe.script.keys:
        probe.wait_quiet(limit_s=probe.now_s() + KEY_LIMIT_S)
        probe.replay.rest(probe.chunks)
        before = probe.replay.screen.cells()
        probe.pump(0)  # what came while the emulator was busy is not an answer
        count = len(probe.chunks)
        at_s = probe.keys(name)
        probe.wait(lambda count=count: len(probe.chunks) > count, limit_s=at_s + KEY_LIMIT_S)  # type: ignore[misc]
        probe.wait_quiet(limit_s=probe.now_s() + KEY_LIMIT_S)
        sizes.append(sum(len(data) for _, data in probe.chunks[count:]))
        changed_s = probe.replay.until(probe.chunks, lambda s, before=before: s.cells() != before)  # type: ignore[misc]
        if changed_s is not None:
            changes_ms.append((changed_s - at_s) * 1000)
    return {
        "key_change_ms": statistics.median(changes_ms) if changes_ms else None,
        "key_bytes": round(statistics.median(sizes)),
        "dearest_key_bytes": max(sizes),
        "keys_answered": len(changes_ms),
    }


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000
