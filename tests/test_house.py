"""The house itself: what pyproject.toml declares, what things are called, which paths the docs name."""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from tests.places import HOUSE

PRODUCT = HOUSE / "raidtui"

SAME_NAME = {
    "plan": "the record in model/, the subcommand in app/commands/",
}
"""Modules of one name on several floors, with what they share."""
ROLES = re.compile(r"cli(?:_\w+)?|session(?:_\w+)?|demo|feature|keys")
"""What each feature may have a module of."""


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
    optional = [line for lines in project["optional-dependencies"].values() for line in lines]
    lines = (*project["dependencies"], *optional)
    declared = {re.split(r"[<>=~! ;\[]", line, maxsplit=1)[0] for line in lines}
    imported = {name for tree in _modules().values() for name in _imported(tree)}
    assert imported - set(sys.stdlib_module_names) - {"raidtui"} == declared


def test_of_a_feature_the_screen_alone_imports_textual() -> None:
    features = {path: tree for path, tree in _modules().items() if "features" in path.parts}
    drawn = {path for path, tree in features.items() if {"textual", "rich"} & set(_imported(tree))}
    assert drawn
    assert [str(path.relative_to(HOUSE)) for path in drawn if path.parent.name != "screen"] == []


def test_every_folder_of_tests_is_collected(request: pytest.FixtureRequest) -> None:
    """Pytest passes over folders by their names: without this, all that is in them is silently not run."""
    passed_over = request.config.getini("norecursedirs")
    folders = {path.parent for path in (HOUSE / "tests").rglob("test_*.py")}
    parts = {part for folder in folders for part in folder.relative_to(HOUSE).parts}
    assert not [part for part in parts if any(fnmatch(part, pattern) for pattern in passed_over)]


def test_a_public_class_has_its_name_to_itself() -> None:
    places = defaultdict(list)
    for path, tree in _modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(HOUSE)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_modules_of_one_name_are_one_feature() -> None:
    places = defaultdict(list)
    for path in _modules():
        of_feature = path.is_relative_to(PRODUCT / "features") and ROLES.fullmatch(path.stem)
        if path.stem != "__init__" and not of_feature:
            places[path.stem].append(str(path.relative_to(HOUSE)))
    repeated = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert sorted(repeated) == sorted(SAME_NAME), repeated


@pytest.mark.parametrize("document", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_paths_in_the_documents_are_there(document: str) -> None:
    named = set(re.findall(r"`((?:raidtui|tests|docs|benchmarks)/[^`\s]*)`", (HOUSE / document).read_text()))
    assert named
    assert {path for path in named if not (HOUSE / path).exists()} == set()


DIALECT = re.compile(
    r"\bgone on with\b|\ba broken one\b|\bspells\b|\bstands? in the\b|\bcomes? to\.|\bwhat it comes to\b"
    r"|\bis held for\b",
    re.IGNORECASE,
)
OLD_NAMES = re.compile(r"(?:Told|Spells?|Ways?|Sides|Desk|Orders|Course|Around)\Z", re.IGNORECASE)


def test_words_are_the_fields() -> None:
    """No module or class has a name of the former private vocabulary, and no sentence its phrases."""
    named = [path.stem for path in _modules()]
    for tree in _modules().values():
        named += [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assert [name for name in named if OLD_NAMES.search(name)] == []
    documents = [HOUSE / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    documents += (HOUSE / "docs").glob("*.md")
    found = [
        f"{path.relative_to(HOUSE)}: {match[0]}"
        for path in (*documents, *PRODUCT.rglob("*.py"), *PRODUCT.rglob("*.txt"))
        for match in DIALECT.finditer(path.read_text())
    ]
    assert found == []


FOR_PEOPLE = re.compile(r"(?:words|sentence|reason|title|note|refusal|remedy|why|why_not|trouble)\Z")
SAID_SO = re.compile(r"\b(?:clauses?|sentences?|for people|why)\b")
"""So the docstring of a class describes a field that is a text for people."""
CUTS = {
    "partition",
    "rpartition",
    "split",
    "rsplit",
    "removeprefix",
    "removesuffix",
    "replace",
    "startswith",
    "endswith",
}
LABEL = {"raidtui/jobs/store.py"}
"""The folder of a job is labelled with the start of the plan's title; nothing reads the label."""


def _fields_for_people() -> set[str]:
    """The names of fields that no class describes as anything else than a text for people."""
    fields: dict[str, set[bool]] = defaultdict(set)
    for tree in _modules().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                described = re.findall(r"(?m)^ {4}(\w+): (.+(?:\n {5,}.+)*)", ast.get_docstring(node) or "")
                kinds = {
                    each.target.id: ast.unparse(each.annotation)
                    for each in node.body
                    if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
                }
                for name, text in {**dict.fromkeys(kinds, ""), **dict(described)}.items():
                    if kinds.get(name) in {"str", "str | None"}:
                        fields[name].add(SAID_SO.search(text) is not None)
    return {name for name, said in fields.items() if said == {True}}


def test_sentences_are_not_parsed() -> None:
    """Nothing cuts or searches a text made for people: a field or a code carries what is needed."""
    found, people = [], _fields_for_people()
    assert {"void", "unread", "obstacle"} <= people
    for path, tree in _modules().items():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            of = node.func.value.func if isinstance(node.func.value, ast.Call) else node.func.value
            name = of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""
            layout = ast.unparse(node.args[0]) == r"'\n'" if node.args else True
            if node.func.attr in CUTS and (FOR_PEOPLE.search(name) or name in people) and not layout:
                found.append(f"{path.relative_to(HOUSE)}:{node.lineno}: {ast.unparse(node)}")
    assert [each for each in found if each.partition(":")[0] not in LABEL] == []
