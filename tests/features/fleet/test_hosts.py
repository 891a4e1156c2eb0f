"""Which hosts a word means, and which words are refused."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from raidtui.features.fleet.hosts import FleetError, FleetHost, host_of
from raidtui.features.fleet.inventory import hosts_of


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


def test_what_ansible_prints_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {
        "_meta": {"hostvars": {"a": {"ansible_host": "10.0.0.1"}, "c": {}}},
        "all": {"children": ["ungrouped", "web"]},
        "web": {"hosts": ["b", "a"]},
    }
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(whole).encode())))
    assert hosts_of(["-"]) == (
        FleetHost(name="b"),
        FleetHost(name="a", address="10.0.0.1"),
        FleetHost(name="c"),
    )


def test_only_a_word_with_a_slash_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "web").write_text("[all]\nother\n")
    monkeypatch.chdir(tmp_path)
    assert hosts_of(["web"]) == (FleetHost(name="web"),)
    assert hosts_of(["ssh://me@web:22"]) == (FleetHost(name="ssh://me@web:22"),)
    assert hosts_of([",".join(f"web{number}" for number in range(20))]) == tuple(
        FleetHost(name=f"web{number}") for number in range(20)
    )


def test_an_inventory_without_ansible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.features.fleet.inventory.shutil.which", lambda _: None)
    (tmp_path / "hosts").write_text("[web]\na\n")
    with pytest.raises(FleetError, match="ansible-inventory reads inventories, and it is not installed"):
        hosts_of([str(tmp_path / "hosts")])
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
    (tmp_path / "hosts.ini").write_text(
        "web ansible_host=10.0.0.9\n[db]\ndb[01:02]\n[db:vars]\nansible_user=dba\n"
    )
    assert set(hosts_of([str(tmp_path / "hosts.ini")])) == {
        FleetHost(name="web", address="10.0.0.9"),
        FleetHost(name="db01", user="dba"),
        FleetHost(name="db02", user="dba"),
    }


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
