"""One room writes: elsewhere nothing opens a file to write, changes a name or starts a process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import raidtui

SOURCE = Path(raidtui.__file__).parent
_CHANGES = {
    "check_call", "check_output", "chmod", "chown", "copyfile", "create_subprocess_exec",
    "create_subprocess_shell", "execv", "execve", "execvp", "fchmod", "fchown", "fork", "forkpty",
    "ftruncate", "hardlink_to", "ioctl", "kill", "killpg", "lchown", "makedirs", "mkdir", "mkdtemp",
    "mkfifo", "mknod", "mkstemp", "NamedTemporaryFile", "popen", "Popen", "posix_spawn", "posix_spawnp",
    "pwrite", "pwritev", "rename", "renames", "rmdir", "rmtree", "sendfile", "setxattr", "spawnv",
    "symlink", "symlink_to", "system", "TemporaryDirectory", "TemporaryFile", "touch", "truncate",
    "unlink", "utime", "write_text",
}  # fmt: skip
_OF_MODULES = {
    "os.write", "os.link", "os.remove", "os.replace", "subprocess.run", "subprocess.call", "shutil.move",
}  # fmt: skip
_WRITING = ("'w", "'a", "'x", "'r+", "wb", "O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND")
ALLOWED = {
    (
        "features/bench/run/fio_process.py",
        "tempfile.TemporaryFile",
    ): "the job file that fio reads, without a name",
    ("app/commands/capture.py", "tarfile.open"): "in a file that jobs.new_files has created",
    ("first_frame.py", "os.write"): "the terminal",
    ("host/mdstat_apart.py", "os.kill"): "the process that reads mdstat, where that does not answer",
    ("host/mdstat_apart.py", "os.open"): "/dev/null, of the process that reads mdstat",
    ("host/mdstat_apart.py", "os.posix_spawn"): "the process that reads mdstat",
    ("host/mdstat_apart.py", "os.write"): "a question to the process that reads mdstat",
    ("host/tool_pieces.py", "subprocess.Popen"): "a tool that only asks (host.readers.questions)",
    ("host/tool_pieces.py", "tempfile.TemporaryFile"): "what that tool says as errors, without a name",
    ("host/tools.py", "open"): "what a tool prints, in memory",
    ("host/tools.py", "process.kill"): "a tool that does not answer",
    ("host/tools.py", "subprocess.Popen"): "tools that unpack, and those of run_tool",
    ("features/rescue/mismatch/what_lies_there.py", "fcntl.ioctl"): "FIEMAP, which asks",
    ("frame/driver.py", "open"): "the terminal",
    ("frame/driver.py", "os.write"): "the terminal, and the console's own pipe",
    ("view/slow_line.py", "fcntl.ioctl"): "TIOCOUTQ, which asks",
}
"""(file, call) -> why it may be there."""


def _writes(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    last = name.rpartition(".")[2]
    if last in {"open", "fdopen"}:
        return any(word in ast.unparse(call) for word in _WRITING)
    return last in _CHANGES or name in _OF_MODULES


def _calls() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith("jobs/"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and _writes(node):
                    yield name, ast.unparse(node.func)


def test_what_writes_is_in_jobs() -> None:
    assert {*_calls()} == ALLOWED.keys()


def test_run_tool_runs_any_tool_and_only_two_may_call_it() -> None:
    """What reads the live host, which refuses changes before, and what writes to it."""
    callers = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "run_tool":
                callers.add(path.relative_to(SOURCE).as_posix())
    assert callers == {"host/readers/folder_reader.py", "jobs/host_writer.py", "jobs/spawn.py"}


def test_the_check_sees_them() -> None:
    seen = ("open(p, 'w')", "os.open(p, os.O_RDWR)", "p.open('ab')", "os.write(1, b'')", "Path(p).unlink()",
            "subprocess.run(x)", "shutil.rmtree(p)", "os.replace(a, b)", "p.write_text('')")  # fmt: skip
    other = ("open(p)", "os.open(p, os.O_RDONLY)", "text.replace(a, b)", "names.remove(x)", "root.link(p)")
    found = [_writes(node) for each in (*seen, *other) for node in [ast.parse(each, mode="eval").body]
             if isinstance(node, ast.Call)]  # fmt: skip
    assert found == [True] * len(seen) + [False] * len(other)
