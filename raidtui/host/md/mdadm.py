"""mdadm's output: ``--export``, the only form made for programs; else lines for people."""

from __future__ import annotations

from typing import assert_never

from raidtui.host.readers.host_reader import HostReader
from raidtui.model.answer import AnswerKind

_LONGEST_KEY = 128


class MdadmError(ValueError):
    """mdadm could not be run, failed, or printed something other than KEY=value lines.

    Args:
        message: why, a clause.
        kind: of what kind the answer is.
        status: the exit status, if it has one.
    """

    def __init__(
        self, message: str, kind: AnswerKind = AnswerKind.NOT_UNDERSTOOD, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.kind, self.status = kind, status


class MdadmSilentError(MdadmError):
    """mdadm has not ended in time, may not look, or is not understood: its answer is not known."""


def parse_export(text: str) -> dict[str, str]:
    """Parse the KEY=value lines of ``mdadm --detail --export`` or ``--examine --export``.

    Raises:
        MdadmError: a line is neither empty nor KEY=value. The message quotes it.
    """
    values: dict[str, str] = {}
    for line in text.split("\n"):
        if not line.strip():
            continue
        key, separator, value = line.partition("=")
        if not separator or not _is_key(key):
            raise MdadmSilentError(f"mdadm printed a line that is not KEY=value: {line[:60]!r}")
        values[key] = value
    return values


def _is_key(key: str) -> bool:
    return 0 < len(key) <= _LONGEST_KEY and key.isascii() and key.replace("_", "").isalnum()


def read_detail(reader: HostReader, device: str) -> dict[str, str]:
    """Return ``mdadm --detail --export DEVICE``.

    Raises:
        MdadmError: mdadm is not installed, has no permission (it needs root), or failed.
    """
    return _export(reader, "--detail", device)


def read_examine(reader: HostReader, device: str) -> dict[str, str]:
    """Return ``mdadm --examine --export DEVICE``: the member's superblock.

    Raises:
        MdadmError: mdadm is not installed, has no permission (it needs root), or failed.
    """
    return _export(reader, "--examine", device)


def read_examine_text(reader: HostReader, device: str) -> str:
    """Return what ``mdadm --examine DEVICE`` prints for people, which is more than ``--export`` has.

    Raises:
        MdadmError: mdadm is not installed, has no permission (it needs root), or failed.
    """
    return _run(reader, "--examine", device)


def read_bitmap_words(reader: HostReader, device: str) -> dict[str, str]:
    """Return the "Key : value" lines of ``mdadm --examine-bitmap DEVICE``.

    Raises:
        MdadmError: mdadm is not installed, has no permission (it needs root), or failed.
    """
    return parse_words(_run(reader, "--examine-bitmap", device))


def parse_words(text: str) -> dict[str, str]:
    """Parse "Key : value" lines made for people. The first line of a key counts; other lines are ignored."""
    values: dict[str, str] = {}
    for line in text.split("\n"):
        key, separator, value = line.partition(" : ")
        if separator and 0 < len(key.strip()) <= _LONGEST_KEY:
            values.setdefault(key.strip(), value.strip())
    return values


def _export(reader: HostReader, mode: str, device: str) -> dict[str, str]:
    return parse_export(_run(reader, mode, "--export", device))


def _run(reader: HostReader, mode: str, *words: str) -> str:
    output = reader.ask("mdadm", mode, *words)
    match output.kind:
        case AnswerKind.ANSWER | AnswerKind.NOTHING_THERE:
            return output.stdout
        case AnswerKind.TIMED_OUT | AnswerKind.REFUSED | AnswerKind.NOT_UNDERSTOOD:
            raise MdadmSilentError(output.why_not, output.kind)
        case AnswerKind.NO_TOOL | AnswerKind.NOT_ASKED:
            raise MdadmError(output.why_not, output.kind)
        case AnswerKind.FAILED:
            said = output.why_not or output.stderr.strip() or output.stdout.strip()
            said = said or f"exit status {output.status}"
            raise MdadmError(f"mdadm {mode} {words[-1]}: {said}", output.kind, output.status)
        case _:
            assert_never(output.kind)
