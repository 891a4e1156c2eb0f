"""What SECURITY.md says of the tools that looking starts is held against the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import raidtui
from raidtui.host.logs.journald import journal_argv
from raidtui.host.logs.ring import ARGV as RING

SOURCE = Path(raidtui.__file__).parent
SECURITY = (SOURCE.parent / "SECURITY.md").read_text(encoding="utf-8")


def first_words(call: ast.Call) -> Iterator[str]:
    """The programs that a call of ``root.run`` may start, where they are written out."""
    head = call.args[0] if call.args else None
    found = ast.walk(head) if isinstance(head, ast.Starred) else ()
    words = [node.elts[0] for node in found if isinstance(node, ast.Tuple)]
    for word in (head, *words):
        if isinstance(word, ast.Constant) and isinstance(word.value, str):
            yield word.value


def programs() -> set[str]:
    """The programs that reading the host starts."""
    found = set()
    for path in (*(SOURCE / "host").rglob("*.py"), SOURCE / "bench" / "run" / "fio_process.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "run"
            ):
                found |= set(first_words(node))
            elif isinstance(node, ast.FunctionDef) and node.name == "smart_argv":
                found |= {
                    each.value.elts[0].value
                    for each in ast.walk(node)
                    if isinstance(each, ast.Return)
                    and isinstance(each.value, ast.Tuple)
                    and isinstance(each.value.elts[0], ast.Constant)
                    and isinstance(each.value.elts[0].value, str)
                }
    return found


def test_the_tools_that_only_read_are_named() -> None:
    found = programs()
    assert {"mdadm", "smartctl", "vgs", "lvmconfig", "systemctl", "wipefs", "blkid", "pvs"} <= found
    assert {name for name in found if f"`{name}" not in SECURITY} == set()


def test_the_tools_that_read_logs_are_named() -> None:
    assert f"`{journal_argv()[0]}`, `{' '.join(RING)}`" in SECURITY
