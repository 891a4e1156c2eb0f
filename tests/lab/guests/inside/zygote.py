"""raidtui's command line, imported once in a guest: each command is a fork of this process.

Runs inside the guest (`python -m tests.lab.guests.inside.zygote LINE ROOM`), started by the agent at the
first command. A request on LINE, a socket, is a JSON object with `ident` and `argv` (what follows
`-m raidtui`) and three open files: standard output, standard error, and one that takes two messages: the
process id when the command has begun, and how it ended, as `subprocess` says it.

A command has a process and a session of its own, only these files and /dev/null open, the environment of
every job with its mark, and the modules as they were imported: this process runs nothing of raidtui, has one
thread, and opens nothing but LINE. What a command reads, writes or breaks ends with it. That raidtui starts
by itself is not shown by it: a test about that starts it anew.

A worker that a command starts is a fork of this process, too, which hears of it at DOOR.
"""

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import runpy
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import BinaryIO

import raidtui
import raidtui.jobs.spawn

MARK = "LAB_JOB"
ROOM = "LAB_ROOM"  # in the environment, as long as a mark at least: nobody looks for it by this name
# What no command loads: the console, and what only stands beside the command line.
NOT_LOADED = ("raidtui.__main__", "raidtui.demo", "raidtui.first_frame", "raidtui.app", "raidtui.frame")
LOADED = ("raidtui.app.cli", "raidtui.app.commands")
SCREEN = "screen"  # of a feature
DOOR = "\0raidtui-zygote"
MOST_BYTES = 1 << 17
FILES = 3


def load() -> None:
    """Import all that commands import, at their beginning or later."""
    folder = Path(raidtui.__file__).parent
    for file in sorted(folder.rglob("*.py")):
        name = ".".join(file.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
        if _in(name, LOADED) or not (_in(name, NOT_LOADED) or SCREEN in name.split(".")):
            importlib.import_module(name)
    for name in ("ctypes.util", "psutil", "pyudev", "runpy", "shutil", "tempfile", "uuid"):
        importlib.import_module(name)


def _in(name: str, packages: Sequence[str]) -> bool:
    return any(f"{name}.".startswith(f"{each}.") for each in packages)


def check(*open_files: int) -> None:
    """Whether a fork inherits nothing but modules.

    Raises:
        RuntimeError: there is a second thread, or another open file.
    """
    threads = len(os.listdir("/proc/self/task"))
    files = {int(name) for name in os.listdir("/proc/self/fd") if Path("/proc/self/fd", name).exists()}
    if threads != 1 or threading.active_count() != 1 or files != {0, 1, 2, *open_files}:
        raise RuntimeError(f"{threads} threads, files {sorted(files)}: a command would inherit them")


def serve(line: socket.socket, door: socket.socket) -> list[str]:
    """Fork for each request; returns, in the child alone, the words of its command.

    Raises:
        SystemExit: the agent has ended.
    """
    running: dict[int, tuple[int, int | None]] = {}  # a file that says that it ended: process, answers' file
    while True:
        poll = select.poll()
        for number in (line.fileno(), door.fileno(), *running):
            poll.register(number, select.POLLIN)
        ready = {number for number, _ in poll.poll()}
        for pidfd in ready & running.keys():
            pid, answers = running.pop(pidfd)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            os.close(pidfd)
            if answers is not None:
                os.write(answers, b"%d" % status)
                os.close(answers)
        if door.fileno() in ready:
            caller, _ = door.accept()
            text, files, *_ = socket.recv_fds(caller, MOST_BYTES, 1)
            if not text:  # who asked was killed
                caller.close()
                continue
            pid = fork()
            if not pid:
                request = json.loads(text)
                os.environ.clear()
                os.environ.update(request["env"])
                os.chdir(request["cwd"])
                return begin(request["env"][MARK], request["argv"], files[0], files[0])
            os.close(files[0])
            with caller, contextlib.suppress(BrokenPipeError):
                caller.send(b"%d" % pid)
            running[os.pidfd_open(pid)] = (pid, None)
        if line.fileno() not in ready:
            continue
        text, files, *_ = socket.recv_fds(line, MOST_BYTES, FILES)
        if not text:
            raise SystemExit(0)
        out, err, answers = files
        pid = fork()
        if not pid:
            request = json.loads(text)
            return begin(str(request["ident"]), request["argv"], out, err)
        os.close(out)
        os.close(err)
        os.write(answers, b"%d" % pid)
        running[os.pidfd_open(pid)] = (pid, answers)


def fork() -> int:
    """Fork; returns in the child at once, in this process when the child has begun (or ended).

    Until then the child has this process's words and no mark: who looks for either takes one for the other.
    """
    begun, held = os.pipe()
    pid = os.fork()
    if pid:
        os.close(held)
        os.read(begun, 1)  # its end: the child has closed all but its outputs
        os.close(begun)
    return pid


def start_worker(
    argv: Sequence[str],
    *,
    stdin: int,
    stdout: BinaryIO,
    stderr: BinaryIO,
    cwd: str,
    env: Mapping[str, str],
    start_new_session: bool,
) -> int:
    """Start a worker as ``subprocess.Popen`` does it for ``raidtui.jobs.spawn``; returns its process id."""
    assert (stdin, stdout, start_new_session) == (subprocess.DEVNULL, stderr, True)
    assert tuple(argv[:3]) == (sys.executable, "-m", "raidtui")
    request = json.dumps({"argv": argv[3:], "cwd": cwd, "env": dict(env)}).encode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.connect(DOOR)
        socket.send_fds(line, [request], [stdout.fileno()])
        return int(line.recv(32))


def begin(ident: str, argv: list[str], out: int, err: int) -> list[str]:
    """Make this process what a start of its own would have made; returns the words of the command."""
    started_by = SimpleNamespace(DEVNULL=subprocess.DEVNULL, Popen=start_worker)
    vars(raidtui.jobs.spawn)["subprocess"] = started_by
    os.setsid()
    os.dup2(out, 1)
    os.dup2(err, 2)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        renewed = stream(number, getattr(sys, name))
        for each in (name, f"__{name}__"):
            setattr(sys, each, renewed)
    os.environ.pop(ROOM, None)  # a worker's has none
    show(ident, argv)
    os.environ[MARK] = ident
    sys.orig_argv[1:] = ["-m", "raidtui", *argv]
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # last: see fork
    return argv


def stream(number: int, like: io.TextIOWrapper) -> io.TextIOWrapper:
    """A standard stream as Python makes it at its start, on what is open now."""
    binary = open(number, "wb" if number else "rb", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(
        binary, encoding=like.encoding, errors=like.errors, line_buffering=like.line_buffering
    )


def show(ident: str, argv: list[str]) -> None:
    """Write the command's words and its mark where /proc shows them: the agent finds its processes by it."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    words_at, words_end, environment_at, environment_end = (
        int(fields[number - 3]) for number in range(48, 52)
    )
    words = b"".join(os.fsencode(word) + b"\0" for word in (sys.executable, "-m", "raidtui", *argv))
    with open("/proc/self/mem", "r+b", buffering=0) as memory:  # noqa: PTH123
        memory.seek(environment_at)
        before = memory.read(environment_end - environment_at).split(b"\0")
        room = next(each for each in before if each.startswith(f"{ROOM}=".encode()))
        memory.seek(environment_at + b"\0".join(before).index(room))
        memory.write(f"{MARK}={ident}".encode().ljust(len(room), b"\0"))
        memory.seek(words_at)
        memory.write(words[: words_end - words_at - 1].ljust(words_end - words_at, b"\0"))


def main() -> None:
    """Serve the line and the door; in each child, run raidtui as `python -m raidtui` does."""
    line, door = socket.socket(fileno=int(sys.argv[1])), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    load()
    door.bind(DOOR)
    door.listen()
    check(line.fileno(), door.fileno())
    gc.collect()
    gc.freeze()  # else each child's first collection copies all that was imported
    sys.argv[1:] = serve(line, door)
    for each in (line, door):  # closed already
        each.detach()
    try:
        runpy.run_module("raidtui", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        finish(end.code if isinstance(end.code, int) else bool(end.code))


def finish(status: int) -> None:
    """End as Python does, but for the objects that it takes down one by one: that touches all of memory."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
