"""What is on a device, by looking at the device itself: udev's database may be stale, or know nothing."""

from __future__ import annotations

from collections.abc import Collection
from threading import Lock

from raidtui.host.block import DiskReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tools import ToolOutput
from raidtui.model.answer import Answer, AnswerKind, known
from raidtui.model.disk import Use

_PROBE_S, _TOGETHER_S = 20.0, 3.0
_NOTHING, _SEVERAL = 2, 8  # exit statuses of blkid(8) with --probe


def probe_signatures(reader: HostReader, name: str) -> Answer[tuple[Use, ...]]:
    """Return the signatures on a device; none where blkid and wipefs agree that there is none.

    Args:
        reader: the host. Of a capture and of the demo, which are never written to, it is what udev says.
        name: the kernel's name.
    """
    if not reader.live:
        disk = DiskReader(reader).read({name}).get(name)
        return known(tuple(use for use in disk.uses if use.kind == "signature") if disk else ())
    path = f"/dev/{name}"
    output = reader.ask("blkid", "--probe", "--output", "export", path, timeout_s=_PROBE_S)
    if output.status == 0:
        rows = _rows(output.stdout)
        found = _uses(rows)
        if found or "DEVNAME" in rows:  # of an empty partition it says where that lies
            return output.answer(found) if found else _none(reader, path)
        return output.silent(
            AnswerKind.NOT_UNDERSTOOD, f"blkid does not say in known words what {path} holds"
        )
    if output.status == _SEVERAL:
        why = f"{path} holds signatures of several kinds: it is not clear which one is valid"
        return output.silent(AnswerKind.NOT_UNDERSTOOD, why)
    return _none(reader, path) if output.status == _NOTHING else output.silent()


class TogetherProbe:
    """The signatures on several devices by a few runs of blkid and wipefs; any thread may ask.

    What is not plain is left to ``probe_signatures``, a device at a time; everything, where a tool takes long
    or complains.

    Args:
        reader: the host.
        names: the kernel's names.
    """

    def __init__(self, reader: HostReader, names: Collection[str]) -> None:
        self._reader = reader
        self._paths = {f"/dev/{name}": name for name in names if "/" not in name}
        self._lock = Lock()
        self._found: dict[str, Answer[tuple[Use, ...]]] | None = None

    def take(self, name: str) -> Answer[tuple[Use, ...]] | None:
        """Return what was found on a device, once: who asks again wants to know it anew."""
        with self._lock:
            if self._found is None:
                self._found = self._ask() if self._reader.live and len(self._paths) > 1 else {}
            return self._found.pop(name, None)

    def _ask(self) -> dict[str, Answer[tuple[Use, ...]]]:
        seen: dict[str, Answer[tuple[Use, ...]]] = {}
        seen |= {path: known((), f"blkid and wipefs of {path}") for path in self._bare()}
        rest = [path for path in self._paths if path not in seen]
        if rest:
            output = self._reader.ask("blkid", "--probe", "--output", "export", *rest, timeout_s=_TOGETHER_S)
            said = _devices(output.stdout)
            plain = output.status in {0, _NOTHING} and not output.stderr.strip()
            if plain and said.keys() <= set(rest):
                seen |= {path: output.answer(found) for path, rows in said.items() if (found := _uses(rows))}
        return {name: seen[path] for path, name in self._paths.items() if path in seen}

    def _bare(self) -> list[str]:
        """Return the devices on which neither tool finds anything; none where they are not understood.

        With --probe, blkid ends at the first of them (util-linux 2.38); without, it looks at all.
        """
        argv = ("blkid", "--cache-file", "/dev/null", "--output", "export", *self._paths)
        output = self._reader.ask(*argv, timeout_s=_TOGETHER_S)
        if output.status not in {0, _NOTHING} or output.stderr.strip():
            return []
        wiped = self._reader.ask("wipefs", "--no-act", "--noheadings", *self._paths, timeout_s=_TOGETHER_S)
        if wiped.status != 0 or wiped.stderr.strip():
            return []
        said = _devices(output.stdout)
        listed = {f"/dev/{line.split()[0]}" for line in wiped.stdout.split("\n") if line.strip()}
        if not {*said, *listed} <= self._paths.keys():
            return []
        return [path for path in self._paths if path not in listed and not _uses(said.get(path, {}))]


def _rows(text: str) -> dict[str, str]:
    return dict(line.partition("=")[::2] for line in text.split("\n") if "=" in line)


def _devices(text: str) -> dict[str, dict[str, str]]:
    """Return what blkid exports of each device, by path; "" for what has none."""
    blocks = (_rows(block) for block in text.split("\n\n") if block.strip())
    return {rows.get("DEVNAME", ""): rows for rows in blocks}


def _uses(rows: dict[str, str]) -> tuple[Use, ...]:
    return tuple(
        Use(kind="signature", what=rows[key], detail=rows.get("LABEL", "") if key == "TYPE" else "")
        for key in ("TYPE", "PTTYPE")
        if rows.get(key)
    )


def _none(reader: HostReader, path: str) -> Answer[tuple[Use, ...]]:
    """Confirm that there is nothing: blkid ends with the same status where a device cannot be read."""
    output = reader.ask("wipefs", "--no-act", "--noheadings", path, timeout_s=_PROBE_S)
    if output.status != 0:
        return output.silent()
    types = wiped_types(output)
    if types or output.stdout.strip():
        why = f"blkid finds nothing on {path}, and wipefs finds {', '.join(types) or 'a signature'}"
        return output.silent(AnswerKind.NOT_UNDERSTOOD, why)
    return known((), f"blkid and wipefs of {path}")


def wiped_types(output: ToolOutput) -> tuple[str, ...]:
    """Return the types of signatures that wipefs lists, each once."""
    rows = (line.split() for line in output.stdout.split("\n"))
    return tuple(dict.fromkeys(row[2] for row in rows if len(row) > 2))
