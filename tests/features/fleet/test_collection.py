"""The collection of Ansible: which words its parameters become, and its role on this machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

import raidtui
from raidtui.app.cli import build_parser
from raidtui.model.plan import Plan, Step
from tests.places import HOUSE

COLLECTION = HOUSE / "fleet/ansible"
BIN = Path(sys.executable).parent
ROLE = """\
- hosts: all
  gather_facts: false
  roles: [raidtui.raidtui.raidtui]
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Ansible's, with the collection where it looks for it."""
    place = tmp_path / "ansible_collections/raidtui"
    place.mkdir(parents=True)
    (place / "raidtui").symlink_to(COLLECTION)
    own = {f"ANSIBLE_{name}_TEMP": str(tmp_path / "temp") for name in ("LOCAL", "REMOTE")}
    return {
        **os.environ,
        **own,
        "HOME": str(tmp_path),
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_COLLECTIONS_PATH": str(tmp_path),
        "PYTHONPATH": str(tmp_path),
    }


def ran(environment: dict[str, str], *argv: str) -> str:
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def words_of(environment: dict[str, str], **params: Any) -> list[str]:
    """Return what the module ``raidtui_array`` would call."""
    every = {"array": None, "devices": [], "to": None, "level": None, "options": {}, **params}
    script = (
        "import json, sys\nfrom ansible_collections.raidtui.raidtui.plugins.modules.raidtui_array"
        " import words_of\nprint(json.dumps(words_of(json.loads(sys.argv[1]))))"
    )
    found: list[str] = json.loads(ran(environment, sys.executable, "-c", script, json.dumps(every)))
    return found


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (
            {"verb": "create", "array": "a", "level": "raid1", "devices": ["sda", "sdb"],
             "options": {"assume_clean": True, "bitmap": "none", "spare": ["sdc", "sdd"], "failfast": False}},
            "create --assume-clean --bitmap=none --spare=sdc --spare=sdd --level=raid1 --name=a -- sda sdb",
        ),
        ({"verb": "rename", "array": "a", "to": "b"}, "rename --to=b -- a"),
        ({"verb": "bitmap", "array": "a", "to": "none"}, "bitmap -- a none"),
        ({"verb": "replace", "array": "a", "devices": ["sda", "sdb"]}, "replace --with=sdb -- a sda"),
        ({"verb": "add", "array": "a", "devices": ["sda"]}, "add -- a sda"),
        ({"verb": "stop", "array": "a"}, "stop -- a"),
        ({"verb": "assemble", "devices": ["sda"], "options": {"run": True}}, "assemble --run -- sda"),
        ({"verb": "grow", "array": "a", "devices": ["sdc", "sdd"]}, "grow a --add sdc sdd"),
        ({"verb": "convert", "array": "a", "level": "6", "devices": ["c"]}, "convert a --level=6 --add c"),
        ({"verb": "shrink", "array": "a", "options": {"devices": 3}}, "shrink --devices=3 -- a"),
    ],
)  # fmt: skip
def test_words(environment: dict[str, str], params: dict[str, Any], words: str) -> None:
    found = words_of(environment, **params)
    assert found == words.split()
    arguments = build_parser().parse_args(["plan", *found])  # the command line takes them
    assert arguments.verb == params["verb"]


def test_what_it_reads_of_a_plan_is_there() -> None:
    text = (COLLECTION / "plugins" / "module_utils" / "raidtui.py").read_text()
    for name, records in (("plan", (Plan,)), ("step", get_args(Step))):
        read = set(re.findall(rf'\b{name}(?:\.get\(|\[)"(\w+)"', text))
        known = {field.encode_name for record in records for field in msgspec.structs.fields(record)}
        assert {"steps" if name == "plan" else "argv"} <= read <= known


def test_it_belongs_to_this_version(environment: dict[str, str]) -> None:
    assert f"version: {raidtui.__version__}\n" in (COLLECTION / "galaxy.yml").read_text()
    for path in sorted((COLLECTION / "plugins/modules").glob("*.py")):
        page = ran(environment, str(BIN / "ansible-doc"), "--json", f"raidtui.raidtui.{path.stem}")
        shown = json.loads(page)[f"raidtui.raidtui.{path.stem}"]
        declared = set(re.findall(r'^            "(\w+)": ', path.read_text(), re.MULTILINE))
        assert declared <= set(shown["doc"]["options"])
        assert shown["examples"]


def test_the_role_twice(environment: dict[str, str], tmp_path: Path) -> None:
    file, place = tmp_path / "raidtui.run", tmp_path / "bin-raidtui"
    file.write_text("#!/bin/sh\necho stand-in\n")
    (tmp_path / "play.yml").write_text(ROLE)
    given = {"raidtui_run_file": str(file), "raidtui_place": str(place)}
    argv = (
        *(str(BIN / "ansible-playbook"), "--inventory=localhost,", "--connection=local"),
        *(
            "--extra-vars",
            json.dumps({**given, "ansible_python_interpreter": sys.executable}),
            str(tmp_path / "play.yml"),
        ),
    )
    assert " changed=1 " in ran(environment, *argv)
    assert subprocess.run((place,), capture_output=True, check=True).stdout == b"stand-in\n"
    assert " changed=0 " in ran(environment, *argv)
