"""``raidtui rescue try WAY DEVICE...``: tries a way back, judges it, and takes all of it down again."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from getpass import getpass

from msgspec import to_builtins

from raidtui.command.device_names import kernel_name
from raidtui.command.following import attach, refused
from raidtui.command.streams import UsageError, print_json, print_refusal
from raidtui.features.rescue.mdadm_words import (
    Assembly,
    Recreation,
    assemble_way,
    find_backup,
    new_backup,
)
from raidtui.features.rescue.records import RESHAPES
from raidtui.features.rescue.reshapes_halves_containers import find_container
from raidtui.features.rescue.search.results import CandidateEvidence, CheckResult, RescueGeometry
from raidtui.features.rescue.session import find_planned_backups
from raidtui.features.rescue.session_search import compare_members
from raidtui.features.rescue.trial.trial_members import choose_method
from raidtui.features.rescue.trial.trial_record import (
    TrialLooks,
    TrialMethod,
    TrialRequest,
    read_outcome,
    read_record,
)
from raidtui.features.rescue.trial.trials import await_trial, begin_trial, list_methods, new_ident
from raidtui.host.backup_files import find_backups
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.reading import read_survey
from raidtui.jobs.lock import JobError
from raidtui.jobs.store import Job
from raidtui.model.plan import Refusal
from raidtui.model.reshape_place import needs_backup
from raidtui.model.survey import Survey
from raidtui.monitor.sampler import Sampler
from raidtui.view.text import visible
from raidtui.view.units import SECTOR_BYTES, binary_size
from raidtui.watch.storage import new_uuid

_LEVELS = frozenset({0, 1, 4, 5, 6, 10})
_METADATA = frozenset({"0.90", "1.0", "1.1", "1.2"})
_KEYS = ("level", "layout", "chunk", "offset", "metadata", "size")
_REFUSED = 2
_MOST_KEY = 512
"""The most bytes of a passphrase that cryptsetup takes from a terminal."""
_START, _DEGRADED, _HALF, _FORCE = "start", "start-degraded", "take-half", "force"
_NO_BITMAP = "start-without-bitmap"
_ALTERNATE, _ORIGINAL = "layout-alternate", "layout-original"
_CONTINUE, _REVERT = "continue-reshape", "revert-reshape"
_WITHOUT = "continue-reshape-without-backup"
_CREATE = "rebuild-superblocks"
_WAYS = {
    _START: "unchanged, by its superblocks",
    _DEGRADED: "without the members that are missing (--run)",
    _NO_BITMAP: "without its damaged bitmap (--update=no-bitmap)",
    _ALTERNATE: "a RAID 0 of members of different size, as Linux 3.14 and newer write it",
    _ORIGINAL: "such a RAID 0, as older ones wrote it",
    _HALF: "with one half of a mirror whose halves have diverged (--run)",
    _FORCE: "with members that are behind (--force)",
    _CONTINUE: "in the middle of a reshape, with its backup file where it has one",
    _WITHOUT: "in the middle of a reshape whose backup file is lost, or not needed",
    _REVERT: "with that reshape reverted (--update=revert-reshape)",
    _CREATE: "with new superblocks, as --geometry says",
}


def read_geometry(text: str, order: Sequence[str]) -> RescueGeometry:
    """Return the geometry that words say.

    Args:
        text: the words: chunk in KiB, offset and size in sectors of 512 bytes.
        order: kernel names by slot, or "missing".

    Raises:
        ValueError: they say none; the message says why.
    """
    words: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if key not in _KEYS or not equals or key in words:
            raise ValueError(f"--geometry: {part!r} is not one of {', '.join(_KEYS)}, each once")
        words[key] = value
    level = _number(words, "level")
    if "level" not in words or level not in _LEVELS:
        raise ValueError("--geometry needs level=0, 1, 4, 5, 6 or 10")
    metadata = words.get("metadata", "1.2")
    if metadata not in _METADATA:
        raise ValueError(f"--geometry: metadata {metadata!r} is not one of {', '.join(sorted(_METADATA))}")
    if level != 1 and not words.get("chunk"):
        raise ValueError("--geometry needs chunk=KIB: a default is a guess")
    if level in {5, 6, 10} and not words.get("layout"):
        raise ValueError("--geometry needs layout=: a default is a guess")
    if not metadata.startswith("0") and metadata != "1.0" and "offset" not in words:
        raise ValueError("--geometry needs offset=SECTORS: a default is a guess")
    return RescueGeometry(
        level=level,
        order=tuple(order),
        layout=words.get("layout", ""),
        chunk_bytes=_number(words, "chunk") << 10,
        data_offset_sectors=_number(words, "offset"),
        metadata=metadata,
        size_sectors=_number(words, "size") or None,
    )


def _number(words: dict[str, str], key: str) -> int:
    word = words.get(key, "0")
    if not (word.isascii() and word.isdigit() and len(word) < 16):
        raise ValueError(f"--geometry: {key}={word} is not a number")
    return int(word)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue try`` takes."""
    parser.description = (
        "Try a way back. The members stay read-only during the trial: what is written goes to"
        " overlays. What is on the array is checked, and everything is taken down again."
    )
    parser.add_argument(
        "way", choices=_WAYS, help="; ".join(f"{key}: {words}" for key, words in _WAYS.items())
    )
    parser.add_argument(
        "devices", nargs="+", metavar="DEVICE", help="each member, by slot for new superblocks; or missing"
    )
    parser.add_argument(
        "--geometry",
        default="",
        metavar="WORDS",
        help="for new superblocks: level=5,layout=left-symmetric,chunk=64,offset=2048[,metadata=1.2]"
        "[,size=SECTORS] (chunk in KiB, offset in sectors)",
    )
    parser.add_argument("--name", default="rescued", help="for new superblocks: the array's name")
    parser.add_argument(
        "--uuid", default="", help="for new superblocks: the array's UUID; default: a new one"
    )
    parser.add_argument(
        "--backup-file",
        default="",
        metavar="FILE",
        help="of a reshape: the file that was given to mdadm --grow, which is only copied; for the other"
        " ways with a reshape: a new file",
    )
    parser.add_argument("--overlays", action="store_true", help="on overlays even where they are not needed")
    parser.add_argument("--store", default="", metavar="FOLDER", help="keep what the overlays take there")
    parser.add_argument("--store-size", type=int, metavar="MIB", help="the most that each overlay may take")
    parser.add_argument("--files", action="store_true", help="mount read-only and list the files")
    parser.add_argument(
        "--hashes", default="", metavar="FILE", help="compare files with the list of sha256sum"
    )
    parser.add_argument(
        "--key-file",
        default="",
        metavar="FILE",
        help="the LUKS key: the whole file, as cryptsetup --key-file reads it;"
        " - asks for the passphrase, or reads it from the standard input, to the end of its line",
    )
    parser.add_argument(
        "--beside",
        action="append",
        default=[],
        metavar="DEVICE",
        help="a running array that holds another part of the same volume group: it is read, too",
    )
    parser.add_argument("--copy-to", default="", metavar="FOLDER", help="copy all files there")
    parser.add_argument("--hold", action="store_true", help="leave it mounted read-only until rescue clean")
    parser.add_argument("--verify", action="store_true", help="read all of each member before and after")
    parser.add_argument("--detach", action="store_true", help="do not wait for the end")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON (docs/rescue.md)")


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Try; return 0 clean, 1 not clean or void, 2 refused, 75 another job is running."""
    if not reader.live:
        print("raidtui: not done: a capture cannot be tried", file=sys.stderr)
        return _REFUSED
    names = tuple(word if word == "missing" else kernel_name(reader, word) for word in arguments.devices)
    survey = read_survey(reader, Sampler(reader).sample(), tuple(name for name in names if name != "missing"))
    try:
        made = _made(arguments, survey, names)
        request = _request(arguments, made, survey)
    except ValueError as error:
        raise UsageError(str(error)) from error
    try:
        typed = _passphrase(arguments)
        job = begin_trial(reader, survey, request, _looks(reader, arguments), typed)
        if isinstance(job, Refusal):
            return print_refusal(job, as_json=arguments.json)
        return _followed(job, arguments)
    except JobError as error:
        return refused(error)


def _made(arguments: argparse.Namespace, survey: Survey, names: tuple[str, ...]) -> Assembly | Recreation:
    """Return what the array is made from.

    Raises:
        ValueError: the words say no geometry; the message says why.
    """
    if arguments.way == _CREATE:
        geometry = read_geometry(arguments.geometry, names)
        uuid = arguments.uuid or new_uuid()
        return Recreation(geometry=geometry, uuid=uuid, name=arguments.name, homehost=survey.homehost)
    blocks = [device.superblock for device in survey.devices.values() if device.superblock is not None]
    if container := find_container(names, blocks, run=arguments.way == _DEGRADED):
        if arguments.way not in {_START, _DEGRADED}:
            raise ValueError(f"a container is tried with {_START} or {_DEGRADED}")
        return container
    uuid = next((block.uuid for block in blocks if block.uuid), "")
    there = {name: survey.devices[name].superblock for name in names if name in survey.devices}
    found = {name: block for name, block in there.items() if block is not None}
    short = len(names) < max((block.raid_disks or 0 for block in blocks), default=0)
    backup = _backup(arguments, uuid, needed=any(needs_backup(block) for block in blocks))
    run = arguments.way in {_DEGRADED, _HALF, _FORCE, _NO_BITMAP} or (short and arguments.way in RESHAPES)
    return assemble_way(arguments.way, names, uuid, found, run=run, backup=backup)


def _backup(arguments: argparse.Namespace, uuid: str, *, needed: bool) -> str:
    """Return the backup file of a reshape: the one that was named or found, or a new one; "" for none.

    Raises:
        ValueError: it is needed, and there is none.
    """
    if arguments.way not in RESHAPES:
        return ""
    if arguments.backup_file:
        return os.path.abspath(str(arguments.backup_file))  # noqa: PTH100
    if not needed and arguments.way != _WITHOUT:
        return ""
    if arguments.way != _CONTINUE:
        return new_backup(uuid)
    found = find_backup(find_backups(files=find_planned_backups()), uuid)
    if found is None:
        raise ValueError(f"its backup file was not found: --backup-file FILE, or {_WITHOUT}")
    return found.path


def _request(arguments: argparse.Namespace, made: Assembly | Recreation, survey: Survey) -> TrialRequest:

    method = TrialMethod.OVERLAYS
    if not arguments.overlays:
        if isinstance(made, Recreation):
            method = list_methods(made.geometry)[0]
        elif arguments.way in {_START, _DEGRADED, _HALF}:
            method = choose_method(survey, made.devices)
    blocks = [device.superblock for device in survey.devices.values() if device.superblock is not None]
    try:
        seen = compare_members(made.geometry) if isinstance(made, Recreation) else CandidateEvidence()
    except OSError as error:
        raise ValueError(f"a member cannot be read: {error}") from error
    return TrialRequest(
        ident=new_ident(),
        method=method,
        made=made,
        label=f"{arguments.way} {next((block.label for block in blocks), 'an array')}",
        store=arguments.store,
        store_bytes=arguments.store_size << 20 if arguments.store_size else None,
        evidence=seen,
    )


def _looks(reader: HostReader, arguments: argparse.Namespace) -> TrialLooks:

    return TrialLooks(
        files=arguments.files,
        hashes=_absolute(arguments.hashes),
        copy_to=_absolute(arguments.copy_to),
        hold=arguments.hold,
        key_file="" if arguments.key_file == "-" else _absolute(arguments.key_file),
        verify=arguments.verify,
        beside=tuple(f"/dev/{kernel_name(reader, word)}" for word in arguments.beside),
    )


def _passphrase(arguments: argparse.Namespace) -> str:
    """Return the passphrase that is typed, or comes by the standard input; "" where none is asked for.

    Raises:
        UsageError: there is none, or it is not valid UTF-8.
    """
    if arguments.key_file != "-":
        return ""
    try:
        typed = sys.stdin.isatty()
        found = getpass("Passphrase: ") if typed else sys.stdin.buffer.readline(_MOST_KEY).decode()
    except (UnicodeDecodeError, EOFError) as error:
        raise UsageError("the passphrase is not valid UTF-8; use --key-file FILE") from error
    if not (found := found.removesuffix("\n")):
        raise UsageError("no passphrase was given")
    return found


def _absolute(path: str) -> str:
    return os.path.abspath(path) if path else ""  # noqa: PTH100  (the worker has another working folder)


def _followed(job: Job, arguments: argparse.Namespace) -> int:
    """Follow a trial to its end, and print what came of it."""
    if arguments.detach:
        print(f"job {job.id}: raidtui jobs attach {job.id}")
        return 0
    if arguments.json:
        await_trial(job)
    else:
        attach(job)
    outcome = read_outcome(job)
    if outcome is None:
        return 1
    doubts = read_record(job).request.evidence.doubts
    if arguments.json:
        print_json({"job": job.id, **to_builtins(outcome), "doubts": list(doubts)})
    else:
        for each in outcome.findings:
            what = each.proof.contents or "nothing known"
            print(visible(f"{each.place or 'the array'}: {what}, {each.proof.check}"))
        if outcome.store_sectors:
            most = max(outcome.store_sectors.values()) * SECTOR_BYTES
            print(f"The overlays have stored {binary_size(most)} each at most.")
        print(visible(f"{outcome.proof.check}: {outcome.proof.sure}"))
        for doubt in doubts:
            print(visible(doubt))
        if outcome.proof.check in {CheckResult.CLEAN, CheckResult.ERRORS}:
            print(f"The real step: raidtui rescue plan {job.id}")
    return 0 if outcome.proof.check is CheckResult.CLEAN else 1
