"""Which hosts a word means, and which words are refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from raidtui.fleet.hosts import FleetError, FleetHost, host_of
from raidtui.fleet.inventory import hosts_of

INI = """\
# comment
alone ansible_host=10.0.0.9 ansible_port=2222

[web]
web[01:03].example.org
web-[a:b] ansible_user=deploy

[db]
db1:2200
db2 ansible_host="10.0.0.2"  # a comment

[db:vars]
ansible_user=postgres

[all:vars]
ansible_user=ops
ansible_ssh_private_key_file=/keys/ops

[prod:children]
web
db

[prod:vars]
ansible_user=prod
"""
KEY = "/keys/ops"


@pytest.mark.parametrize(
    "name",
    [
        "-oProxyCommand=touch x",
        "--",
        "",
        "a b",
        "a;reboot",
        "$(id)",
        "a\nb",
        "ssh://-oX",
        "me@-oX",
        "a'b",
        "`id`",
    ],
)
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(FleetError):
        host_of(name)


@pytest.mark.parametrize(
    "values",
    [
        {"ansible_host": "-oProxyCommand=x"},
        {"ansible_user": "-l"},
        {"ansible_user": "a b"},
        {"ansible_port": "22; reboot"},
        {"ansible_port": "0"},
        {"ansible_private_key_file": "-F"},
    ],
)
def test_variables_that_are_refused(values: dict[str, str]) -> None:
    with pytest.raises(FleetError):
        host_of("web", values)


def test_what_ssh_is_given() -> None:
    assert host_of("web").words == ("--", "web")
    values = {
        "ansible_host": "10.0.0.1",
        "ansible_port": 22,
        "ansible_user": "me",
        "ansible_ssh_private_key_file": "k",
    }
    assert host_of("web", values).words == ("-l", "me", "-p", "22", "-i", "k", "--", "10.0.0.1")
    for name in ("me@host", "ssh://me@host:22", "[::1]", "fe80::1%eth0", "db_1.example.org"):
        assert host_of(name).destination == name


def test_an_inventory_as_ini(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.fleet.inventory.shutil.which", lambda _: None)
    (tmp_path / "hosts").write_text(INI)
    assert hosts_of([str(tmp_path / "hosts")]) == (
        FleetHost(name="alone", address="10.0.0.9", user="ops", port=2222, key=KEY),
        *(FleetHost(name=f"web0{number}.example.org", user="prod", key=KEY) for number in (1, 2, 3)),
        *(FleetHost(name=f"web-{letter}", user="deploy", key=KEY) for letter in "ab"),
        FleetHost(name="db1", user="postgres", port=2200, key=KEY),
        FleetHost(name="db2", address="10.0.0.2", user="postgres", key=KEY),
    )


def test_an_inventory_as_ansible_prints_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.fleet.inventory.shutil.which", lambda _: None)
    whole = {
        "_meta": {"hostvars": {"a": {"ansible_host": "10.0.0.1"}, "c": {}}},
        "all": {"children": ["ungrouped", "web"]},
        "web": {"hosts": ["b", "a"]},
    }
    (tmp_path / "hosts.json").write_text(json.dumps(whole))
    assert hosts_of([str(tmp_path / "hosts.json")]) == (
        FleetHost(name="b"),
        FleetHost(name="a", address="10.0.0.1"),
        FleetHost(name="c"),
    )


def test_what_only_ansible_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.fleet.inventory.shutil.which", lambda _: None)
    (tmp_path / "hosts.yml").write_text("all: {hosts: {a: {}}}\n")
    with pytest.raises(FleetError, match="only ansible-inventory reads this form"):
        hosts_of([str(tmp_path / "hosts.yml")])
    with pytest.raises(FleetError, match="there is no such inventory"):
        hosts_of([str(tmp_path / "none")])


def test_what_ansible_inventory_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ansible's own program reads what it alone can read: YAML, here with a range and a group's variables."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    monkeypatch.setenv("HOME", str(tmp_path))
    inventory = {
        "web": {"hosts": {"web[1:2]": None}, "vars": {"ansible_user": "deploy", "ansible_port": 2222}},
        "db": {"hosts": {"db": {"ansible_host": "10.0.0.1"}}},
    }
    (tmp_path / "hosts.yml").write_text(json.dumps(inventory))  # which is YAML, too
    assert set(hosts_of([str(tmp_path / "hosts.yml")])) == {
        FleetHost(name="web1", user="deploy", port=2222),
        FleetHost(name="web2", user="deploy", port=2222),
        FleetHost(name="db", address="10.0.0.1"),
    }
    (tmp_path / "hosts.ini").write_text(INI)
    by_ansible = hosts_of([str(tmp_path / "hosts.ini")])
    monkeypatch.setattr("raidtui.fleet.inventory.shutil.which", lambda _: None)
    assert set(by_ansible) == set(hosts_of([str(tmp_path / "hosts.ini")]))


def test_an_inventory_that_ansible_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "ansible-inventory"
    tool.write_text("#!/bin/sh\necho oops >&2\nexit 4\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(FleetError, match="ansible-inventory failed: oops"):
        hosts_of([str(tool)])


def test_patterns_of_ssh_config(tmp_path: Path) -> None:
    config = tmp_path / "config"
    (tmp_path / "more").write_text('Host db3 "db4"\n')
    config.write_text(
        f"Host db1 db2 *.example.org !bad\n  User me\nhost=web\nInclude {tmp_path}/mo*\nHost *\n"
    )
    names = [host.name for host in hosts_of(["db*"], str(config))]
    assert names == ["db1", "db2", "db3", "db4"]
    assert [host.name for host in hosts_of([], str(config))] == ["db1", "db2", "web", "db3", "db4"]
    assert [host.name for host in hosts_of(["x,db1", "db1", "d?2"], str(config))] == ["x", "db1", "db2"]
    with pytest.raises(FleetError, match="no host of ssh_config matches 'q\\*'"):
        hosts_of(["q*"], str(config))
