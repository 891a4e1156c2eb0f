"""The first root of QEMU's guest: a few tools of this machine and the modules that reach the real root.

Pure preparation: an archive for the kernel is made, nothing is started.
"""

import re
import shlex
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from string import Template

from tests.lab.guests.boot import DEFAULT_PATH, which
from tests.lab.guests.qemu.kernel import Kernel

TOOLS = ("sh", "insmod", "mkdir", "mount", "switch_root")
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay")
HOST, SHARE = "host", "share"  # how the machine offers its two folders
NINE_P = "trans=virtio,version=9p2000.L,msize=512000"
LIBRARY = re.compile(r"(/\S+) \(0x")

INIT = Template("""\
#!/bin/sh
export PATH=$path
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs -o mode=755 run /run
for module in $modules; do insmod "/modules/$$module"; done
mount -t 9p -o ro,$options,cache=loose $host /lower || exit 1
mount -t tmpfs -o mode=755 overlay /memory || exit 1
mkdir /memory/upper /memory/work /run/lab
mount -t overlay -o lowerdir=/lower,upperdir=/memory/upper,workdir=/memory/work overlay /root || exit 1
mount -t 9p -o $options,cache=none $share /run/lab || exit 1
exec switch_root /root /bin/sh /run/lab/start </dev/console >/dev/console 2>&1
""")


def build(kernel: Kernel) -> bytes:
    """The archive, as the kernel unpacks it.

    Raises:
        LookupError: a tool or a module is not there.
        subprocess.CalledProcessError: a tool's libraries are not known.
    """
    modules = kernel.load_order(MODULES)
    init = INIT.substitute(
        path=DEFAULT_PATH,
        modules=shlex.join(file.name for file in modules),
        options=NINE_P,
        host=HOST,
        share=SHARE,
    )
    files: dict[str, bytes] = {"init": init.encode()}
    files |= {f"modules/{file.name}": file.read_bytes() for file in modules}
    for tool in TOOLS:
        path = which(tool)
        if path is None:
            raise LookupError(f"{tool} is not installed")
        files[f"bin/{tool}"] = Path(path).read_bytes()
        files |= {library.lstrip("/"): Path(library).read_bytes() for library in libraries(path)}
    return b"".join(archive(files, folders=("dev", "proc", "sys", "run", "root", "lower", "memory")))


def libraries(program: str) -> list[str]:
    """What a program is linked with, its loader included."""
    ldd = which("ldd") or "ldd"
    result = subprocess.run((ldd, program), check=True, capture_output=True, text=True, timeout=20)
    return LIBRARY.findall(result.stdout)


def archive(files: dict[str, bytes], *, folders: tuple[str, ...]) -> Iterator[bytes]:
    """A cpio archive in the kernel's form (Documentation/driver-api/early-userspace/buffer-format.rst)."""
    parents = {str(parent) for name in files for parent in Path(name).parents} - {"."}
    for name in sorted({*folders, *parents}, key=len):
        yield _entry(name, stat.S_IFDIR | 0o755, b"")
    for name, data in files.items():
        yield _entry(name, stat.S_IFREG | 0o755, data)
    yield _entry("TRAILER!!!", 0, b"")


def _entry(name: str, mode: int, data: bytes) -> bytes:
    path = name.encode() + b"\0"
    numbers = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
    return _padded(b"070701" + b"".join(b"%08x" % number for number in numbers) + path) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
