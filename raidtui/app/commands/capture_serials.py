"""Serial numbers and WWNs, hashed wherever a capture holds them: the same one is the same hash everywhere."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from raidtui.host.knobs.udev_rules import FOLDERS
from raidtui.host.serials import page_80_serial
from raidtui.host.smart.device_types import PATH as TYPES_PATH
from raidtui.host.tools import output_path
from raidtui.model.knob_table import OUR_FILES
from raidtui.model.log_line import CAPTURED
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.wear.ledger import PATH
from raidtui.plans.tune.keep_files import udev_entries

_SHORTEST = 4
_KEYS = r"ID_SERIAL(?:_SHORT)?|ID_WWN\w*|SCSI_IDENT_\w+|ID_SCSI_SERIAL|ID_ATA_\w*WWN\w*"
_FILES = r"(?:device/)?(?:serial|wwid|wwn|eui|nguid|uuid)"
_UDEV = re.compile(rf"^(?:E:)?(?:{_KEYS})=(.+)$", re.MULTILINE)
_RULE = re.compile(rf'((?:ENV\{{(?:{_KEYS})|ATTRS?\{{{_FILES})\}}\s*[!=]=\s*[ei]?")([^"]*)"')
_JSON = re.compile(
    r'"(disk|serial_number|logical_unit_id|eui64|nguid|\w*sas_address|\w*nqn|\w*uuid)"\s*:\s*"([^"]{4,200})"'
)
_JSON_WWN = re.compile(r'"(wwn|eui64|nguid)"(\s*:\s*)(\{[^{}]*\}|[0-9]+)')
_IMSM = re.compile(r"^ *Disk[0-9]+ Serial : (.+)$", re.MULTILINE)
_LOGGED = re.compile(r'(?:S/N:\s*|WWN:|\b(?:serial|WWN|identifier) (?=\S*[0-9]))([^\s,"\\]+)')
_OF_EXAMINE = output_path(("mdadm", "--examine")).removesuffix(".txt")
_OF_SMART = (output_path(("smartctl",)).removesuffix(".txt"), PATH)
_OF_RULES = tuple(f"{folder}/" for folder in FOLDERS)
_KEPT = re.compile(r'"([^"]{4,200})"\s*:')
_WILD = re.compile(r"\[[^\]]*\]|[*?]")


def hash_serials(
    snapshot: Snapshot, files: Mapping[str, bytes], links: Mapping[str, str]
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return files and links with hashes in the place of serial numbers and WWNs.

    Args:
        snapshot: knows the disks.
        files: absolute path -> content.
        links: absolute path -> target.
    """
    texts = {path: data.decode("utf-8", "surrogateescape") for path, data in files.items()}
    secret = {text for disk in snapshot.disks.values() for text in (disk.serial, disk.wwn) if text}
    for path, text in texts.items():
        if path.startswith("/run/udev/data/"):
            secret.update(match[1] for match in _UDEV.finditer(text))
        elif path.endswith(("/serial", "/wwid")):
            secret.add(text.strip())
        elif path.endswith("/vpd_pg80"):
            secret.add(page_80_serial(files[path]) or "")
        elif path == CAPTURED:
            secret.update(match[1].strip() for match in _LOGGED.finditer(text))
        elif path.startswith(_OF_EXAMINE):
            secret.update(match[1].strip() for match in _IMSM.finditer(text))
        elif path == TYPES_PATH:
            secret.update(_KEPT.findall(text))
        elif path.startswith(_OF_SMART):
            texts[path] = _JSON_WWN.sub(r'"\1"\2{}', text)
            secret.update(match[2] for match in _JSON.finditer(texts[path]))
    for path, text in texts.items():
        if path.startswith(_OF_RULES):
            texts[path] = _RULE.sub(lambda match: f'{match[1]}{_with_serials(match[2], secret)}"', text)
    for path, text in texts.items():
        if path.startswith(_OF_RULES):
            secret.update(word for match in _RULE.finditer(text) for word in match[2].split("|"))
        if path == OUR_FILES["udev"]:
            secret.update(_absent(text))
    conceal = _Concealed(secret)
    return (
        {path: conceal(text).encode("utf-8", "surrogateescape") for path, text in texts.items()},
        {conceal(path): conceal(target) for path, target in links.items()},
    )


class _Concealed:
    """Puts hashes in the place of words; another capture has other hashes."""

    def __init__(self, secret: Iterable[str]) -> None:
        salt = secrets.token_bytes(16)
        words = sorted((word for word in secret if len(word) >= _SHORTEST), key=len, reverse=True)
        self._hashed = {
            word: "h" + hashlib.blake2b(word.encode("utf-8", "replace"), key=salt, digest_size=6).hexdigest()
            for word in words
        }
        self._pattern = re.compile("|".join(map(re.escape, words))) if words else None

    def __call__(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: self._hashed[match.group()], text)


def _with_serials(patterns: str, known: Iterable[str]) -> str:
    """Return what a rule asks of a serial number without wildcards, as these have no hash.

    ``Samsung_SSD_850*`` becomes all known ones that it means, with ``|`` between them. One that means none of
    them stays, and is hashed as it is; one that says nothing of a disk (``?*``) stays, too.
    """
    words = []
    for pattern in patterns.split("|"):
        found = sorted(word for word in known if _WILD.search(pattern) and fnmatchcase(word, pattern))
        says_something = len(_WILD.sub("", pattern)) >= _SHORTEST
        words += found if found and says_something else [pattern]
    return "|".join(words)


def _absent(text: str) -> Iterable[str]:
    """Yield serial numbers in comments of raidtui's own rules: what is kept may be of a disk elsewhere."""
    for entry in udev_entries(text)[0]:
        if entry.match[0] != "ATTR{md/uuid}":
            yield entry.comment.rpartition(", ")[2]
