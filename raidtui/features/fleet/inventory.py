"""Which hosts a word means: an inventory of Ansible, a pattern of ssh_config, or a host."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from raidtui.features.fleet.hosts import FleetError, FleetHost, host_of
from raidtui.features.fleet.ssh_config import configured_hosts, matching
from raidtui.jobs.user_process import run_for_user
from raidtui.view.text import visible

_TOOL = "ansible-inventory"
_TOOL_S = 120.0
_LARGEST = 64 << 20


def hosts_of(words: Sequence[str], ssh_config: str = "") -> tuple[FleetHost, ...]:
    """Return the hosts that words mean, each once.

    Args:
        words: inventories (a word with a ``/`` is a path; "-": the output of ``ansible-inventory --list`` on
            standard input), patterns of ssh_config, hosts; without any, all hosts that ssh_config names.
        ssh_config: the file that is read instead of the user's and the system's.

    Raises:
        FleetError: nothing is found for a word, or an inventory is not understood.
    """
    found: dict[str, FleetHost] = {}
    for word in words or ("*",):
        for host in _hosts_of_word(word, ssh_config):
            found.setdefault(host.name, host)
    return tuple(found.values())


def _hosts_of_word(word: str, ssh_config: str) -> list[FleetHost]:
    if word == "-":
        return _parse_json(sys.stdin.buffer.read(_LARGEST), "standard input")
    if os.sep in word and not word.startswith("ssh://"):
        return _read_file(Path(word))
    hosts = []
    for part in filter(None, word.split(",")):
        if not set(part) & set("*?"):
            hosts.append(host_of(part))
            continue
        names = matching(part, configured_hosts(ssh_config))
        if not names:
            raise FleetError(
                f"no host of ssh_config matches {visible(part)!r}: name hosts, or an inventory of Ansible"
            )
        hosts += [host_of(name) for name in names]
    return hosts


def _read_file(path: Path) -> list[FleetHost]:
    name = visible(str(path))
    if not path.exists():
        raise FleetError(f"{name}: there is no such inventory")
    if shutil.which(_TOOL) is not None:
        return _parse_json(_asked(path), name)
    raise FleetError(
        f"{name}: {_TOOL} reads inventories, and it is not installed: install ansible-core, or, where it is,"
        f" {_TOOL} --list | raidtui fleet -"
    )


def _asked(path: Path) -> bytes:
    """Return what ansible-inventory says of an inventory."""
    argv = (_TOOL, "--list", "--inventory", os.path.abspath(path))  # noqa: PTH100  (links stay as they are)
    try:
        done = run_for_user(argv, timeout_s=_TOOL_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FleetError(f"{_TOOL}: {error}") from error
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise FleetError(f"{visible(str(path))}: {_TOOL} failed: {visible(last)}")
    return done.stdout


def _parse_json(data: bytes, what: str) -> list[FleetHost]:
    """Return the hosts of ``ansible-inventory --list``."""
    try:
        whole: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FleetError(f"{what} is not the output of {_TOOL} --list: {error}") from error
    if not isinstance(whole, dict):
        raise FleetError(f"{what} is not the output of {_TOOL} --list")
    meta = whole.get("_meta")
    variables = meta.get("hostvars", {}) if isinstance(meta, dict) else {}
    groups = [group for name, group in whole.items() if name != "_meta" and isinstance(group, dict)]
    names = [str(name) for group in groups for name in group.get("hosts", ())]
    values = variables if isinstance(variables, dict) else {}
    return [
        host_of(name, own if isinstance(own := values.get(name), dict) else {})
        for name in dict.fromkeys((*names, *map(str, values)))
    ]
