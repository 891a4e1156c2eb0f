"""The arrays that the host's files name: ARRAY lines of mdadm.conf, and /dev/md* in fstab and crypttab."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.md.array_names import canonical_uuid
from raidtui.host.mounts import unescape
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.levels import disk_count

_CONFS = (("/etc/mdadm/mdadm.conf", "/etc/mdadm/mdadm.conf.d"), ("/etc/mdadm.conf", "/etc/mdadm.conf.d"))
_WORD = re.compile(r"""(?:"[^"]*"?|'[^']*'?|[^ \t"'])+""")
_KEYWORD = "array"
_KEYWORDS = (
    _KEYWORD, "devices", "mailaddr", "mailfrom", "program", "create", "homehost", "homecluster", "auto",
    "policy", "part-policy", "sysfs", "monitordelay", "encryption_no_verify", "probing",
)  # fmt: skip
"""Of mdadm to 4.5; three letters of one, in any case, are enough (match_keyword, config.c)."""
_UUID = re.compile(r"[:. -]*(?:[0-9a-fA-F][:. -]*){32}")
_IDENTITY = re.compile(r"(?:uuid|name|super-minor)=.*", re.IGNORECASE)
_BY_ID = "/dev/disk/by-id/"
_PATH = re.compile(r"/dev/(?:md[0-9/_]|disk/by-id/md-(?:uuid|name)-).*", re.ASCII)


class ConfiguredArray(Struct, frozen=True, kw_only=True):
    """An array that a file names.

    Args:
        file: the file.
        line: of the file, from 1.
        path: the node under /dev; "" where the line has none.
        given: the node as the line has it.
        uuid: in mdadm's form.
        full_name: the name in the superblock, "host:name" or "name"; "" where the line has none.
        raid_disks: the number of members, where the line has it.
        level: the kernel's word, where the line has it.
        at_boot: whether it is needed at boot.
        ignored: whether it must not be assembled (``ARRAY <ignore>``).
        metadata: the word of ``metadata=``.
        devices: the words of ``devices=``: no other device is a member.
        super_minor: the number of ``super-minor=``.
    """

    file: str
    line: int
    path: str = ""
    given: str = ""
    uuid: str | None = None
    full_name: str = ""
    raid_disks: int | None = None
    level: str = ""
    at_boot: bool = True
    ignored: bool = False
    metadata: str = ""
    devices: tuple[str, ...] = ()
    super_minor: int | None = None

    @property
    def where(self) -> str:
        """The file and the line, for people: "/etc/fstab, line 3"."""
        return f"{self.file}, line {self.line}"

    @property
    def label(self) -> str:
        """The name without the host, or the name of the link under /dev/md where the line has only a path."""
        if self.full_name:
            return self.full_name.rpartition(":")[2]
        return self.path.removeprefix("/dev/md/") if self.path.startswith("/dev/md/") else ""


def read_configured(reader: HostReader) -> tuple[ConfiguredArray, ...]:
    """Return the arrays that the host's files name."""
    found = [entry for path, text in _conf_texts(reader) for entry in _array_lines(path, text)]
    found += _mounted("/etc/fstab", reader.text("/etc/fstab") or "", device=0, options=3)
    found += _mounted("/etc/crypttab", reader.text("/etc/crypttab") or "", device=1, options=3)
    return tuple(found)


def conf_entries(reader: HostReader) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Return the path of mdadm.conf, "" for none, and the words of each entry in it and in its folder."""
    texts = _conf_texts(reader)
    words = (tuple(words) for path, text in texts for _, words in _entries(text))
    return (texts[0][0] if texts else "", tuple(words))


def conf_files(reader: HostReader) -> tuple[str, ...]:
    """Return mdadm.conf, which may not be there yet, and the files in its folder."""
    found = tuple(path for path, _ in _conf_texts(reader))
    return found or (
        _CONFS[0][0]
        if reader.is_there("/etc/mdadm") or reader.is_there("/etc/debian_version")
        else _CONFS[1][0],
    )


def _conf_texts(reader: HostReader) -> tuple[tuple[str, str], ...]:
    """Return mdadm.conf and the files in its folder, each with its text."""
    for conf, folder in _CONFS:
        text = reader.text(conf)
        paths = [f"{folder}/{name}" for name in reader.names(folder) if name.endswith(".conf")]
        if text is not None or paths:
            return ((conf, text or ""), *((path, reader.text(path) or "") for path in paths))
    return ()


def entries_in(text: str) -> Iterator[list[str]]:
    """Yield the words of each entry of a file in the form of mdadm.conf."""
    return (words for _, words in _entries(text))


def configured_in(path: str, text: str) -> tuple[ConfiguredArray, ...]:
    """Return the arrays of the ARRAY lines of a file in the form of mdadm.conf.

    Args:
        path: of the file, for people.
        text: what is in it.
    """
    return tuple(_array_lines(path, text))


def unknown_words(reader: HostReader) -> dict[str, str]:
    """Return the word of each line of mdadm.conf that names an array in vain, by the line's place.

    See ``unknown_words_in``.
    """
    return {
        place: word
        for path, text in _conf_texts(reader)
        for place, word in unknown_words_in(path, text).items()
    }


def unknown_words_in(path: str, text: str) -> dict[str, str]:
    """Return the keyword that mdadm does not know, or the ``uuid=`` that is none, by the line's place.

    Only of lines that identify an array. A UUID has 32 hexadecimal digits, wherever they are parted
    (parse_uuid, util.c).
    """
    found = {}
    for number, words in _entries(text):
        keyword, place = words[0].lower(), f"{path}, line {number}"
        if len(keyword) < 3 or not any(each.startswith(keyword) for each in _KEYWORDS):
            if any(_IDENTITY.fullmatch(word) for word in words[1:]):
                found[place] = words[0]
        elif _KEYWORD.startswith(keyword):
            uuids = [word for word in words[1:] if word.lower().startswith("uuid=")]
            if uuids and not any(_UUID.fullmatch(word[5:]) for word in uuids):
                found[place] = uuids[0]
    return found


def _array_lines(path: str, text: str) -> Iterator[ConfiguredArray]:
    for number, words in _entries(text):
        if (found := _array_entry(path, number, words)) is not None:
            yield found


def _entries(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line and words of each entry; a line that starts with white space continues the one before it."""
    number, entry = 0, list[str]()
    for index, line in enumerate([*text.split("\n"), "end"], start=1):
        words = _words(line)
        if line[:1] in {" ", "\t"} and entry:
            entry += words
        elif words:
            if entry:
                yield number, entry
            number, entry = index, words


def _array_entry(file: str, line: int, words: list[str]) -> ConfiguredArray | None:
    keyword = words[0].lower()
    if len(keyword) < 3 or not _KEYWORD.startswith(keyword):
        return None
    values: dict[str, str] = {}
    path = ""
    for word in words[1:]:
        key, sign, value = word.partition("=")
        if sign:
            values[key.lower()] = value
        elif not path:
            path = word
    given, ignored = path, path.lower() == "<ignore>"
    if ignored or path in {"<none>", "none"}:
        path = ""
    elif path and not path.startswith("/"):
        path = f"/dev/md/{path}"
    if not ignored and ({"container", "member"} & values.keys() or _external(values.get("metadata", ""))):
        return None  # volumes and containers of external metadata are assembled together, by other identities
    disks = values.get("num-devices") or values.get("disks") or ""
    minor = values.get("super-minor", "")
    found = ConfiguredArray(
        file=file,
        line=line,
        path=path,
        given=given if path else "",
        uuid=canonical_uuid(values.get("uuid")),
        full_name=values.get("name", ""),
        raid_disks=disk_count(int(disks)) if disks.isascii() and disks.isdigit() and len(disks) < 6 else None,
        level=values.get("level", ""),
        ignored=ignored,
        metadata=values.get("metadata", ""),
        devices=tuple(filter(None, values.get("devices", "").split(","))),
        super_minor=int(minor) if minor.isascii() and minor.isdigit() and len(minor) < 8 else None,
    )
    return found if found.path or found.uuid or found.full_name else None


def _external(metadata: str) -> bool:
    return metadata.lower() in {"imsm", "ddf"} or metadata.startswith("external")


def _words(line: str) -> list[str]:
    words: list[str] = []
    for word in _WORD.findall(line):
        if word.startswith("#"):
            break
        words.append(word.replace('"', "").replace("'", ""))
    return words


def _mounted(path: str, text: str, *, device: int, options: int) -> Iterator[ConfiguredArray]:
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split()
        if len(words) <= device or words[0].startswith("#"):
            continue
        node = unescape(words[device]).strip('"')
        if _PATH.fullmatch(node) is None:
            continue
        asked = words[options].split(",") if len(words) > options else []
        found = ConfiguredArray(file=path, line=number, path=node, at_boot="noauto" not in asked)
        if node.startswith(f"{_BY_ID}md-uuid-"):
            uuid = canonical_uuid(node.removeprefix(f"{_BY_ID}md-uuid-").partition("-part")[0])
            found = replace(found, uuid=uuid)
        elif node.startswith(f"{_BY_ID}md-name-"):
            name = node.removeprefix(f"{_BY_ID}md-name-").partition("-part")[0]
            found = replace(found, full_name=name)
        yield found
