"""A capture holds what a boot check needs: the same is said of it as of its host."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.app.commands.capture import write_capture
from raidtui.host.readers.opening import open_root
from raidtui.monitor.boot.boot_check import check_boot
from tests.monitor.boot.images import image_root


@pytest.mark.parametrize("name", ["healthy", "no-boot-code", "uefi-empty-esp", "esp-in-fstab"])
def test_a_capture(name: str, tmp_path: Path) -> None:
    host = image_root(name)
    write_capture(host, tmp_path / "capture.tar.gz", with_serials=True)
    captured = check_boot(open_root(str(tmp_path / "capture.tar.gz")))
    assert captured == check_boot(host)
    assert captured.verdicts


def test_serial_numbers_are_hashed(tmp_path: Path) -> None:
    write_capture(image_root(), tmp_path / "capture.tar.gz")
    found = check_boot(open_root(str(tmp_path / "capture.tar.gz"))).verdicts
    assert [each.name for each in found] == ["ubda", "ubdb"]
    assert not any("LAB-UBD" in each.serial for each in found)
