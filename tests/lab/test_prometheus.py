"""A failed member of a real array fires in a real Prometheus, and its replacement lets it rest."""

from pathlib import Path

import pytest

from tests.features.fleet.prometheus import watching
from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import do, raidtui
from tests.lab.test_verbs import idle

pytestmark = pytest.mark.later

_INFO = "/api/v1/query?query=raidtui_md_info"


def test_an_alert_fires_and_rests(guest: Guest, tmp_path: Path) -> None:
    first, second, third = disk_names(guest)[:3]
    made = make_array(guest, "watched", 1, (first, second), extra=["--assume-clean"])

    def metrics() -> str:
        return raidtui(guest, "status", "--prometheus").stdout

    with watching(tmp_path) as prometheus:
        prometheus.gets(metrics())
        wait_until(lambda: prometheus.ask(_INFO)["result"], what="the array is known")
        assert prometheus.ask(_INFO)["result"][0]["metric"]["array"] == "watched"
        assert prometheus.firing() == set()
        do(guest, "fail", "watched", second)
        do(guest, "remove", "watched", second)
        prometheus.gets(metrics())
        prometheus.firing_becomes({("MdArrayDegraded", "watched")})
        do(guest, "add", "watched", third)
        idle(guest, made.kernel)
        prometheus.gets(metrics())
        prometheus.firing_becomes(set())
