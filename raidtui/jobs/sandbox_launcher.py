"""Starts one tool without root's powers: a program of its own, with the standard library alone.

usage: python -S -P -m raidtui.jobs.sandbox_launcher ORDER SAY -- TOOL ARGUMENT...

ORDER is JSON (``Order``). On the descriptor SAY it writes one line of JSON, ``{"held": [...], "missing":
{part: why}}``, before the tool starts. Where a part that is needed does not hold, and the order does not do
without it, nothing is started and the exit status is 125; else it is the tool's, or 128 + N after signal N.

The order of the steps matters: a change of user clears PR_SET_PDEATHSIG (prctl(2)); a mount namespace is
needed before descriptors of folders are opened; a filter for system calls comes last. No step runs in a
process with threads.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import platform
import resource
import shutil
import signal
import stat
import struct
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypedDict

NOT_STARTED = 125
"""The exit status where nothing was started."""
OPTIONAL = frozenset({"landlock", "seccomp"})
"""Parts that are a second layer: their lack is said, and no reason not to start."""
_SPACES = {"mount": 0x20000, "net": 0x40000000, "ipc": 0x8000000, "uts": 0x4000000, "pid": 0x20000000}
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_FLUSH = 0x1261  # BLKFLSBUF, which fio may not do without CAP_SYS_ADMIN
_MACHINE = platform.machine()
_PIVOT_ROOT = {"x86_64": 155, "ppc64le": 203, "s390x": 217}.get(_MACHINE, 41)
# Processes, sockets, mounts, namespaces, tracing, BPF, perf, userfaultfd, nodes, keys, kexec, modules.
_NEVER_X86_64 = """57 58 41 53 165 166 155 272 308 101 321 298 323 133 259 248 249 250 310 311 246 320 175
    313 428 429 430 431 432 442 304"""
_NEVER_GENERIC = """198 199 40 39 41 97 268 117 280 241 282 33 217 218 219 104 270 271 105 273 294 428 429 430
    431 432 442 265"""
_C = ctypes.CDLL(None, use_errno=True)


class Order(TypedDict):
    """What is started how.

    ``folder`` is the only place that can be written to, ``device`` the only block device, ``writes`` whether
    it may be written to; ``uid`` is user and group; ``file_bytes`` how large a file may get, 0 for any size;
    ``calls`` whether system calls are filtered; ``without`` the parts that are done without.
    """

    folder: str
    device: str
    writes: bool
    uid: int
    file_bytes: int
    calls: bool
    without: list[str]


def _call(name: str, *arguments: Any) -> None:
    if getattr(_C, name)(*arguments) < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def _syscall(number: int, *arguments: Any) -> int:
    wide = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    found: int = _C.syscall(ctypes.c_long(number), *wide)
    if found < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"system call {number}: {os.strerror(code)}")
    return found


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    texts = [text.encode() if text is not None else None for text in (source, target, kind)]
    _call("mount", *texts, ctypes.c_ulong(flags), data.encode() or None)


def _bind(source: str, target: str, flags: int) -> None:
    """Bind, then remount: the first call ignores the flags, and the second one must keep those there are."""
    _mount(source, target, None, _BIND)
    kept = os.statvfs(target).f_flag & (_RDONLY | _NOSUID | _NODEV | _NOEXEC)
    _mount("none", target, None, _BIND | _REMOUNT | flags | kept)


def _root(order: Order, held: list[str], number: int) -> None:
    """Make a root of its own: tools and libraries, read-only; the folder or device; and nothing else."""
    _mount("none", "/", None, _REC | _PRIVATE)
    descriptors = [os.open("/usr", os.O_PATH)]
    if order["folder"]:
        descriptors.append(os.open(order["folder"], os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW))
    _mount("sandbox", "/run", "tmpfs", _NOSUID, "mode=0755,size=1m")  # in this namespace alone
    os.chdir("/run")
    for name in ("usr", "etc", "dev", "proc", "sys", "work", "tmp"):
        os.mkdir(name)
    _bind(f"/proc/self/fd/{descriptors[0]}", "usr", _RDONLY | _NOSUID | _NODEV)
    for name in ("bin", "sbin", "lib", "lib64", "lib32"):
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), name)
        elif os.path.isdir(f"/{name}"):  # /usr is not merged
            os.mkdir(name)
            _bind(f"/{name}", name, _RDONLY | _NOSUID | _NODEV)
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile("/etc/ld.so.cache", "etc/ld.so.cache")
    quiet = _RDONLY | _NOSUID | _NODEV | _NOEXEC
    if "net" in held:  # a sysfs of its own belongs to a network of its own
        _mount("sysfs", "sys", "sysfs", quiet)
    else:
        _bind("/sys", "sys", quiet)
    if "pid" in held:
        _mount("proc", "proc", "proc", quiet, "hidepid=2")
    for name, minor in (("null", 3), ("zero", 5), ("urandom", 9)):
        os.mknod(f"dev/{name}", stat.S_IFCHR | 0o666, os.makedev(1, minor))
        os.chmod(f"dev/{name}", 0o666)
    if order["device"]:
        node = "." + order["device"]
        os.makedirs(os.path.dirname(node), exist_ok=True)
        os.mknod(node, stat.S_IFBLK, os.fstat(number).st_rdev)
        os.chown(node, order["uid"], order["uid"])
        os.chmod(node, 0o600 if order["writes"] else 0o400)  # the inode decides, for anyone but root
    if order["folder"]:
        _bind(f"/proc/self/fd/{descriptors[1]}", "work", _NOSUID | _NODEV | _NOEXEC)
    owner = f"mode=0700,uid={order['uid']},gid={order['uid']},size=1m"
    _mount("tmp", "tmp", "tmpfs", _NOSUID | _NODEV | _NOEXEC, owner)
    _syscall(_PIVOT_ROOT, b".", b".")
    _call("umount2", b".", 2)  # MNT_DETACH
    os.chdir("/")
    _mount("none", "/", None, _REMOUNT | _RDONLY | _NOSUID, "size=1m")


def _limits(order: Order) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:  # buffers that are registered, and the rings of io_uring before Linux 5.12, count
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (ValueError, OSError):  # without CAP_SYS_RESOURCE: as much as is allowed
        most = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))
    if order["file_bytes"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["file_bytes"], order["file_bytes"]))


def _capabilities(last: int) -> None:
    for each in range(last + 1):
        _call("prctl", 24, each, 0, 0, 0)  # PR_CAPBSET_DROP
    with contextlib.suppress(OSError):  # before Linux 4.3 there are none
        _call("prctl", 47, 4, 0, 0, 0)  # PR_CAP_AMBIENT_CLEAR_ALL


def _user(order: Order) -> None:
    os.setgroups([])
    os.setresgid(order["uid"], order["uid"], order["uid"])
    os.setresuid(order["uid"], order["uid"], order["uid"])  # permitted and effective capabilities go


def _landlock(order: Order, tool: str) -> None:
    """Let files be opened as the mounts allow, by another part of the kernel (landlock(7))."""
    version = _syscall(444, None, 0, 1)
    handled = (1 << (13 if version < 2 else 14 if version < 3 else 15)) - 1  # not ioctl: BLKGETSIZE64
    rules = _syscall(444, ctypes.create_string_buffer(struct.pack("=Q", handled)), 8, 0)
    look, work, write = 0b1100, 0b100110110001110 & handled, (0b110 | 1 << 14) & handled
    rights = {
        os.path.realpath(tool): 0b101,
        **dict.fromkeys(("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64"), 0b1101),
        **dict.fromkeys(("/proc", "/sys", "/usr/share", "/dev"), look),
        "/etc/ld.so.cache": 0b100,
        "/dev/null": 0b110,
        "/tmp": work,
    }
    if order["folder"]:
        rights["/work"] = work
    if order["device"]:
        rights[order["device"]] = write if order["writes"] else 0b100
    for path, allowed in rights.items():
        with contextlib.suppress(FileNotFoundError):
            number = os.open(path, os.O_PATH)
            if not stat.S_ISDIR(os.fstat(number).st_mode):
                allowed &= 0b111 | 1 << 14  # noqa: PLW2901  (a file has no entries)
            rule = ctypes.create_string_buffer(struct.pack("=Qi", allowed, number))
            _syscall(445, rules, 1, rule, 0)
            os.close(number)
    _syscall(446, rules, 0)
    os.close(rules)


def _filter() -> bytes:
    """Return a filter: no process, socket, mount, tracing, keyring, module or BPF; threads are allowed.

    Numbers are those of the kernel's tables for x86-64, and of its generic one for aarch64.
    """
    if _MACHINE == "x86_64":
        here, clone, never = 0xC000003E, 56, _NEVER_X86_64
    elif _MACHINE == "aarch64":
        here, clone, never = 0xC00000B7, 220, _NEVER_GENERIC
    else:
        raise OSError(errno.ENOSYS, f"not known for {_MACHINE}")
    allow, refuse, absent = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
    code = [(0x20, 0, 0, 4), (0x15, 1, 0, here), (0x06, 0, 0, 0x80000000), (0x20, 0, 0, 0)]
    if _MACHINE == "x86_64":
        code += [(0x35, 0, 1, 0x40000000), (0x06, 0, 0, absent)]  # x32
    code += [(0x15, 0, 1, 435), (0x06, 0, 0, absent)]  # clone3, whose flags cannot be seen: libc takes clone
    code += [(0x15, 0, 4, clone), (0x20, 0, 0, 16), (0x45, 1, 0, 0x10000), (0x06, 0, 0, refuse)]
    code.append((0x06, 0, 0, allow))  # threads
    for number in map(int, never.split()):
        code += [(0x15, 0, 1, number), (0x06, 0, 0, refuse)]
    return b"".join(struct.pack("=HBBI", *each) for each in (*code, (0x06, 0, 0, allow)))


def _seccomp() -> None:
    code = ctypes.create_string_buffer(_filter())
    program = struct.pack("=H6xQ", (len(code) - 1) // 8, ctypes.addressof(code))
    number = 317 if _MACHINE == "x86_64" else 277
    # SECCOMP_FILTER_FLAG_SPEC_ALLOW: without it, stores are slower before Linux 5.16.
    _syscall(number, 1, 4, ctypes.create_string_buffer(program))


class _Parts:
    """What holds, and what does not and why."""

    def __init__(self, without: list[str]) -> None:
        self.held: list[str] = []
        self.missing: dict[str, str] = {}
        self._without = without

    def add(self, name: str, act: Callable[..., None], *arguments: Any) -> None:
        """Carry out a part unless it is done without."""
        if name in self._without:
            self.missing[name] = "done without"
            return
        try:
            act(*arguments)
        except (OSError, ValueError) as error:
            self.missing[name] = getattr(error, "strerror", None) or str(error)
        else:
            self.held.append(name)

    @property
    def lost(self) -> list[str]:
        """The parts that are needed and do not hold."""
        return [name for name in self.missing if name not in (*self._without, *OPTIONAL)]


def _parent(child: int) -> int:
    """Wait for the tool, and pass signals on; return the exit status."""

    def forward(number: int, frame: FrameType | None) -> None:
        del frame
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, forward)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _begin(order: Order, parts: _Parts, number: int, say: int, argv: list[str]) -> None:
    """In the first process of the PID namespace: give everything up, and become the tool."""
    last = int(open("/proc/sys/kernel/cap_last_cap", encoding="ascii").read())  # noqa: SIM115
    if "mount" in parts.held:
        parts.held.remove("mount")
        parts.add("mount", _root, order, parts.held, number)
    elif order["device"]:
        parts.missing.setdefault("uid", "the device's node belongs to root")
    parts.add("limits", _limits, order)
    parts.add("caps", _capabilities, last)
    if "uid" not in parts.missing:
        parts.add("uid", _user, order)
    _call("prctl", 1, signal.SIGKILL, 0, 0, 0)  # the change of user has cleared it
    parts.add("nnp", _call, "prctl", 38, 1, 0, 0, 0)
    inside = "mount" in parts.held
    if inside:
        parts.add("landlock", _landlock, order, argv[0])
    if order["calls"]:
        parts.add("seccomp", _seccomp)
    os.write(say, json.dumps({"held": parts.held, "missing": parts.missing}).encode() + b"\n")
    os.close(say)
    if parts.lost:
        raise OSError(errno.EPERM, "; ".join(f"{name}: {parts.missing[name]}" for name in parts.lost))
    if order["folder"]:
        os.chdir("/work" if inside else order["folder"])
    os.umask(0o077)
    for each in (signal.SIGINT, signal.SIGPIPE):  # Python's own are inherited where they ignore
        signal.signal(each, signal.SIG_DFL)
    os.execve(argv[0], argv, {"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR": "/tmp"})


def main() -> int:
    """Start the tool; return the exit status."""
    order: Order = json.loads(sys.argv[1])
    say, argv = int(sys.argv[2]), sys.argv[4:]
    parent = os.getppid()
    _call("prctl", 1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG: it ends with whoever started it
    if os.getppid() != parent:
        return NOT_STARTED
    os.umask(0o022)  # the folders of the new root have to be entered by another user
    number = -1
    if order["device"]:
        # Held while the tool runs: its number cannot become that of another device. udev watches this node,
        # and looks what is there when one that was open for writing is closed.
        number = os.open(order["device"], (os.O_RDWR if order["writes"] else os.O_RDONLY) | os.O_CLOEXEC)
        if not stat.S_ISBLK(os.fstat(number).st_mode):
            raise OSError(errno.ENOTBLK, f"{order['device']}: {os.strerror(errno.ENOTBLK)}")
        with contextlib.suppress(OSError):
            fcntl.ioctl(number, _FLUSH)
    parts = _Parts(order["without"])
    for name, flag in _SPACES.items():
        parts.add(name, _call, "unshare", flag)
    child = os.fork()
    if child:
        os.close(say)
        return _parent(child)
    try:
        _begin(order, parts, number, say, argv)
    except OSError as error:
        os.write(2, f"sandbox: {error.strerror or error}\n".encode())
    os._exit(NOT_STARTED)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        sys.exit(f"sandbox: {error.strerror or error}")
