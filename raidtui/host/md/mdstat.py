"""/proc/mdstat: every form that drivers/md/md.c (md_seq_show, status_resync) prints, kernels 2.6 to 7.2.

It splits strings, without ``re`` or ``dataclasses``: the first frame imports this before anything else, and
512 arrays are parsed in little more than a millisecond. The records are plain classes for the same reason;
nothing changes them after parsing.
"""

from __future__ import annotations

from raidtui.model.levels import disk_count

_READ_ONLY = {"(read-only)": "read-only", "(auto-read-only)": "auto-read-only"}
_STATES = frozenset({"active", "inactive", "broken"})
_WAITING = frozenset({"PENDING", "DELAYED", "REMOTE"})
_SYNC_WORDS = frozenset({"resync", "recovery", "recover", "reshape", "check", "repair"})


class MdstatError(ValueError):
    """An array's lines are not understood. Other arrays are not affected."""


class MdstatMember:
    """``sda2[5](F)``: kernel name, superblock number (not the slot), flag letters."""

    __slots__ = ("flags", "name", "number")

    def __init__(self, name: str, number: int, flags: str) -> None:
        self.name = name
        self.number = number
        self.flags = flags

    @property
    def foreign(self) -> str:
        """The flags that Linux does not print, such as Synology's E; "" for one that has failed."""
        return "" if "F" in self.flags else "".join(flag for flag in self.flags if flag not in "FJSRW")

    def __repr__(self) -> str:
        return f"{self.name}[{self.number}]{''.join(f'({flag})' for flag in self.flags)}"


class MdstatSync:
    """The progress line. ``waiting`` is PENDING, DELAYED, REMOTE or empty; KiB; minutes x 10."""

    __slots__ = ("done_kib", "finish_deciminutes", "permille", "speed_kib_s", "total_kib", "waiting", "word")

    def __init__(self, word: str, waiting: str = "") -> None:
        self.word = word
        self.waiting = waiting
        self.permille: int | None = None
        self.done_kib: int | None = None
        self.total_kib: int | None = None
        self.finish_deciminutes: int | None = None
        self.speed_kib_s: int | None = None


class MdstatBitmap:
    """``bitmap: 1/1 pages [4KB], 65536KB chunk, file: /x``."""

    __slots__ = ("chunk_bytes", "file", "pages", "used_bytes", "used_pages")

    def __init__(
        self, used_pages: int, pages: int, used_bytes: int | None, chunk_bytes: int | None, file: str
    ) -> None:
        self.used_pages = used_pages
        self.pages = pages
        self.used_bytes = used_bytes
        self.chunk_bytes = chunk_bytes
        self.file = file


class MdstatArray:
    """One array's lines. ``None`` and "" mean "not printed".

    ``state`` is active, inactive or broken, or "" for an array whose lines are not understood: ``trouble``
    says why, and the fields have what could be parsed. ``raid_disks``/``working`` are ``[n/m]``; ``up`` is
    ``U_UU``; ``foreign`` is the same text where it has letters that Linux does not print, and ``up`` is then
    what ``working`` makes of it; ``super`` is the text after "super "; ``layout`` has the layout as the
    personality prints it (``near``, ``far``, ``offset``, ``set``: devices per far set, ``algorithm``);
    ``text`` is the source, for comparison; ``silent`` is whether it is of the past, or "", for mdstat does
    not answer now.
    """

    __slots__ = (
        "bitmap", "blocks_kib", "chunk_kib", "foreign", "layout", "members", "name", "personality",
        "raid_disks", "read_only", "silent", "state", "super", "sync", "text", "trouble", "up", "working",
    )  # fmt: skip

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.trouble = ""
        self.state = ""
        self.read_only = ""
        self.personality = ""
        self.members: list[MdstatMember] = []
        self.blocks_kib: int | None = None
        self.super = ""
        self.chunk_kib: int | None = None
        self.layout: dict[str, int] = {}
        self.raid_disks: int | None = None
        self.working: int | None = None
        self.up: str | None = None
        self.foreign = ""
        self.sync: MdstatSync | None = None
        self.bitmap: MdstatBitmap | None = None
        self.silent = False

    @property
    def level(self) -> str | None:
        """The level. Parity personalities print it separately (``raid456`` runs raid5)."""
        return self.personality or None

    @property
    def filling(self) -> bool:
        """Whether a member is neither in sync, nor failed, nor a spare: it is being filled, or is to be."""
        in_service = sum(not set(member.flags) - {"W"} for member in self.members)
        return self.up is not None and "_" in self.up and in_service > self.up.count("U")


class Mdstat:
    """The whole file: arrays in the kernel's order, arrays not understood, and a sentence per problem."""

    __slots__ = ("arrays", "personalities", "problems", "unread")

    def __init__(self) -> None:
        self.personalities: list[str] = []
        self.arrays: list[MdstatArray] = []
        self.unread: list[MdstatArray] = []
        self.problems: list[str] = []


def parse_mdstat(text: str, before: Mdstat | None = None) -> Mdstat:
    """Parse /proc/mdstat. Never raises: lines that are not understood become a problem of their array alone.

    Args:
        text: the file.
        before: the last result; arrays with the same lines are taken from it.
    """
    result = Mdstat()
    known = {array.name: array for array in before.arrays} if before is not None else {}
    for name, block in _blocks(text, result):
        former = known.get(name)
        try:
            same = former is not None and former.text == "\n".join(block)
            result.arrays.append(former if same and former is not None else parse_array(name, block))
        except MdstatError as error:
            result.problems.append(f"{name}: {error}")
            result.unread.append(_what_is_there(name, block, str(error)))
    return result


def _what_is_there(name: str, lines: list[str], trouble: str) -> MdstatArray:
    """Return an array whose lines are not understood: its name, and the members that are recognised."""
    array = MdstatArray(name, "\n".join(lines))
    array.trouble = trouble
    for word in lines[0].split():
        if "[" in word and word[0] != "[":
            try:
                array.members.append(_parse_member(word))
            except MdstatError:
                continue
    return array


def _blocks(text: str, result: Mdstat) -> list[tuple[str, list[str]]]:
    """Return (name, lines) per array. md_seq_show ends each array with a line of nothing but spaces.

    A line that belongs to no array must not be assigned to the array before it. The kernel prints the file in
    pieces, so an array can appear twice if another one was created in between, and pasted text can hold two
    states: the later one counts. Pasted text may also have CR for line ends, and U+00A0 for spaces.
    """
    blocks: dict[str, list[str]] = {}
    twice: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ").split("\n"):
        if not line.strip():
            current = None
        elif line[0] in " \t":
            if current is None:
                result.problems.append(f"a line that belongs to no array: {line.strip()[:60]!r}")
            else:
                current.append(line)
        elif line.startswith("Personalities :"):
            current = None
            result.personalities = [word.strip("[]") for word in line.partition(":")[2].split()]
        elif line.startswith("unused devices:"):
            current = None
        else:
            name, separator, rest = line.partition(" : ")
            current = [rest]
            if (not separator or not _is_array_name(name)) and _is_prompt(line):
                continue
            if not separator or not _is_array_name(name):
                result.problems.append(f"a line that is not md's: {line[:60]!r}")
            else:
                if name in blocks:
                    twice.setdefault(name, blocks[name])
                blocks[name] = current
    differing = (name for name, first in twice.items() if first != blocks[name])
    result.problems += [
        f"{name} is listed twice, with a difference: the later one is used" for name in differing
    ]
    return list(blocks.items())


def _is_prompt(line: str) -> bool:
    """Whether a line is a shell's: its prompt, alone or with the command that printed the file."""
    return line.rstrip().endswith(("/proc/mdstat", "#", "$", "%", ">"))


def _is_array_name(name: str) -> bool:
    """Whether this can be a kernel's name; it becomes part of paths."""
    return name.isprintable() and not set(name) & set(" /[]:") and name.strip(".") != ""


def parse_array(name: str, lines: list[str]) -> MdstatArray:
    """Parse one array: ``lines[0]`` is what follows "name : ", the rest are its indented lines.

    Raises:
        MdstatError: md.c prints no such lines.
    """
    array = MdstatArray(name, "\n".join(lines))
    _parse_head(array, lines[0].split() if lines else [])
    for line in lines[1:]:
        words = line.split()
        if not words:
            continue
        if len(words) > 1 and words[1] == "blocks" and array.blocks_kib is None:
            array.blocks_kib = _number(words[0], "block count")
            _parse_geometry(array, words[2:])
        elif words[0] == "bitmap:":
            array.bitmap = _parse_bitmap(line)
        else:
            sync = _parse_sync(line, words)
            array.sync = sync or array.sync
    # Fewer U than are counted come with a reshape; so does a count of the geometry before (calc_degraded).
    reshaped = array.sync is not None and array.sync.word == "reshape"
    if array.up and array.working is not None and array.up.count("U") > array.working and not reshaped:
        counts = f"[{array.raid_disks}/{array.working}]"
        raise MdstatError(f"{counts} and [{array.up}] contradict each other")
    return array


def _parse_head(array: MdstatArray, words: list[str]) -> None:
    if not words or words[0] not in _STATES:
        raise MdstatError(f"unknown state {' '.join(words[:1])!r}")
    array.state = words[0]
    for index, word in enumerate(words[1:], 1):
        if word in {"super", "level"} or (word[0] == "[" and "/" in word):
            _parse_geometry(array, words[index:])  # without members there is no line of blocks for it
            return
        if word in _READ_ONLY:
            array.read_only = _READ_ONLY[word]
        elif "[" in word:
            array.members.append(_parse_member(word))
        elif not array.personality and not array.members:
            array.personality = word  # some kernels print it for an inactive array, too
        else:
            raise MdstatError(f"unexpected word {word!r}")


def _parse_member(word: str) -> MdstatMember:
    name, _, rest = word.partition("[")
    number, bracket, flags = rest.partition("]")
    if not bracket:
        raise MdstatError(f"member {word!r} is incomplete")
    if not name.isprintable() or not name.strip("./"):
        raise MdstatError(f"member {word!r} has no name that a device can have")
    letters = flags.replace(")(", "").strip("()")
    if flags and (flags[0] != "(" or flags[-1] != ")" or not letters.isalpha()):
        raise MdstatError(f"member {word!r} has unknown flags")
    return MdstatMember(name, _number(number, "member number"), letters)


def _parse_geometry(array: MdstatArray, words: list[str]) -> None:
    if words and words[0] == "super" and len(words) > 1:
        array.super = words[1]
        words = words[2:]
    for index, word in enumerate(words):
        following = words[index + 1].rstrip(",") if index + 1 < len(words) else ""
        if word.startswith("[") and word.endswith("]"):
            _parse_bracket(array, word[1:-1])
        elif following in {"chunks", "chunk"} and word[-1:] in "kK":
            array.chunk_kib = _number(word[:-1], "chunk size")
        elif following in {"near-copies", "far-copies", "offset-copies"}:
            array.layout[following[: -len("-copies")]] = _number(word, "copies")
        elif word == "algorithm":
            array.layout["algorithm"] = _number(following, "algorithm")
        elif following == "devices" and words[index + 2 : index + 4] == ["per", "set"]:
            array.layout["set"] = _number(word, "devices per set")
        elif word == "level" and following in {"4", "5", "6"} and array.personality.startswith("raid"):
            array.personality = "raid" + following


def _parse_bracket(array: MdstatArray, inner: str) -> None:
    slots, slash, working = inner.partition("/")
    if slash:
        array.raid_disks = disk_count(_number(slots, "number of slots"))
        if array.raid_disks is None:
            raise MdstatError(f"{slots[:24]} slots are more than an array can have")
        array.working = _number(working, "number of working members")
    elif inner and not inner.strip("U_"):
        array.up = inner
    elif len(inner) == array.raid_disks and inner.replace("_", "").isalpha():
        array.foreign, array.up = inner, _counted(inner, array.working)


def _counted(marks: str, working: int | None) -> str | None:
    """Return ``U_UU`` of letters that Linux does not print, by how many members are counted as working.

    Synology's kernel marks so (E) a member with read errors, and counts it. None: the count fits neither.
    """
    served = "".join("_" if mark == "_" else "U" for mark in marks)
    lacking = "".join("U" if mark == "U" else "_" for mark in marks)
    return next((each for each in (served, lacking) if each.count("U") == working), None)


def _parse_bitmap(line: str) -> MdstatBitmap:
    head, _, file = line.partition(", file: ")
    words = head.split()
    used, _, pages = words[1].partition("/") if len(words) > 1 else ("", "", "")
    chunk: int | None = None
    used_bytes: int | None = None
    for index, word in enumerate(words):
        if word.startswith("[") and word.endswith(("KB]", "KB],")):
            used_bytes = _number(word[1:].partition("KB")[0], "bitmap pages") * 1024
        elif word == "chunk":
            size = words[index - 1]
            if size.endswith("KB"):
                chunk = _number(size[:-2], "bitmap chunk") * 1024
            elif size.endswith("B"):
                chunk = _number(size[:-1], "bitmap chunk")
    return MdstatBitmap(
        _number(used, "bitmap pages"), _number(pages, "bitmap pages"), used_bytes, chunk, file.strip()
    )


def _parse_sync(line: str, words: list[str]) -> MdstatSync | None:
    word, equals, waiting = words[0].partition("=")
    if equals and word in _SYNC_WORDS and waiting in _WAITING:
        return MdstatSync(word, waiting)
    before, equals, after = line.partition("=")
    bar, _, rest = line.partition("]")
    if words[0].startswith("["):
        before, equals, after = rest.partition("=")
    else:
        bar = ""
    word = before.strip()
    if not bar or not equals or word not in _SYNC_WORDS:
        return None  # a line of a later kernel, or of another personality
    sync = MdstatSync(word)
    percent, _, rest = after.partition("%")
    whole, _, tenth = percent.strip().partition(".")
    sync.permille = _number(whole, "percentage") * 10 + _number(tenth[:1] or "0", "percentage")
    counts, bracket, rest = rest.partition(")")
    done, slash, total = counts.strip().lstrip("(").partition("/")
    if not bracket or not slash:
        raise MdstatError("progress is incomplete")
    sync.done_kib, sync.total_kib = _number(done, "progress"), _number(total, "progress")
    for field in rest.split():
        if field.startswith("finish=") and field.endswith("min"):
            minutes, _, tenth = field[7:-3].partition(".")
            sync.finish_deciminutes = _number(minutes, "finish") * 10 + _number(tenth[:1] or "0", "finish")
        elif field.startswith("speed=") and field.endswith(("K/sec", "K")):
            sync.speed_kib_s = _number(field[6:].partition("K")[0], "speed")
    return sync


def _number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 20:
        raise MdstatError(f"{what} {text[:24]!r} is not a number")
    return int(text)
