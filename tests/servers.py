"""Servers that tests start with keys, ports and configurations of their own: sshd, Prometheus, node_exporter.

They come from the system, or from where ``make servers`` has unpacked Debian's packages: nothing is
installed, so that no service is started on this machine. Run as a script, it says what is missing.
"""

from __future__ import annotations

import os
import shutil
import sys

from tests.places import HOUSE

UNPACKED = HOUSE / ".venv/lab-servers"
SERVERS = {
    "sshd": "openssh-server",
    "prometheus": "prometheus",
    "promtool": "prometheus",
    "prometheus-node-exporter": "prometheus-node-exporter",
}
"""Program -> Debian package."""


def found(program: str) -> str | None:
    """Return the path of a program, or None."""
    places = (os.environ.get("PATH", ""), "/usr/sbin", "/sbin", f"{UNPACKED}/usr/sbin", f"{UNPACKED}/usr/bin")
    return shutil.which(program, path=":".join(places))


def server(program: str) -> str:
    """Return the path of a program. Without it the test is skipped, or fails under RAIDTUI_LAB=require."""
    path = found(program)
    if path is None:
        import pytest  # noqa: PLC0415  (make servers asks before it is installed)

        why = f"{program} is not there: make servers unpacks {SERVERS.get(program, program)}"
        if os.environ.get("RAIDTUI_LAB") == "require":
            pytest.fail(why)
        pytest.skip(why)
    return path


def libraries() -> dict[str, str]:
    """Return the environment in which unpacked programs find their libraries."""
    if not UNPACKED.exists():
        return {}
    folders = sorted({str(path.parent) for path in UNPACKED.rglob("*.so.*")})
    return {"LD_LIBRARY_PATH": ":".join(folders)}


def main() -> int:
    """Print what is missing."""
    missing = sorted({package for program, package in SERVERS.items() if found(program) is None})
    sys.stdout.write(f"{' '.join(missing)} missing\n" if missing else "")
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
