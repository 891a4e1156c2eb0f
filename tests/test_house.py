"""The house itself: what pyproject.toml declares, what things are called, which paths the docs name."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

HOUSE = Path(__file__).parents[1]
PRODUCT = HOUSE / "raidtui"


@cache
def _modules() -> Mapping[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted(PRODUCT.rglob("*.py"))}


def _imported(tree: ast.Module) -> Iterator[str]:
    """The packages that a module imports, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_what_is_declared_is_imported_and_the_reverse() -> None:
    project = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[<>=~! ;\[]", line, maxsplit=1)[0] for line in project["dependencies"]}
    imported = {name for tree in _modules().values() for name in _imported(tree)}
    assert imported - set(sys.stdlib_module_names) - {"raidtui"} == declared
