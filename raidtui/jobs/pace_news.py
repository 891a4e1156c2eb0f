"""How syncs are paced now, in files below /run: kept by who paces them, read by whoever shows it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.state_files import own_folder, write_synced
from raidtui.model.pace import PacedArray, PaceNews

FOLDER = "/run/raidtui/pace"
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_END = ".json"


def _path(array: PacedArray) -> Path:
    return Path(FOLDER) / f"{(array.uuid or array.name).replace(':', '')}{_END}"


def tell_news(news: PaceNews) -> None:
    """Keep how an array is paced. Where that is not possible, it is only not shown."""
    path = _path(news.array)
    with contextlib.suppress(OSError):
        own_folder(path.parent)
        write_synced(path, msgspec.json.encode(news), 0o644)


def forget_news(array: PacedArray) -> None:
    """Remove it: the pacing has ended."""
    with contextlib.suppress(OSError):
        _path(array).unlink()


def read_news(reader: HostReader) -> tuple[PaceNews, ...]:
    """Return what is kept, of this boot; the process may have ended since."""
    names = [name for name in reader.names(FOLDER) if name.endswith(_END)]
    boot = (reader.text(_BOOT_ID) or "").strip() if names else ""
    found = []
    for name in names:
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            news = msgspec.json.decode(reader.text(f"{FOLDER}/{name}") or "", type=PaceNews)
            if news.boot == boot:
                found.append(news)
    return tuple(found)


def paced_now(reader: HostReader) -> tuple[PaceNews, ...]:
    """Return how arrays are paced by processes that live."""
    from raidtui.jobs.lock import process_of  # noqa: PLC0415  (only who starts or ends one needs it)

    return tuple(
        each for each in read_news(reader) if process_of(each.pid, each.started_s, each.boot) is not None
    )
