"""Which tools only ask, and with which words: a reader runs these, and refuses all others.

By their manuals (mdadm 4.5, smartmontools 7.5, util-linux 2.42, LVM 2.03, cryptsetup 2.8, e2fsprogs 1.47,
xfsprogs 6.15, systemd 258, ledmon 1.1). A tool that is not listed is a change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

_MDADM = frozenset({"--detail", "--examine", "--examine-bitmap", "--detail-platform", "--version"})
_SMARTCTL = ("--scan", "--json", "--all", "--xall", "--info", "--nocheck", "--device", "--log", "--health",
             "--capabilities", "--attributes", "--version", "--tolerance", "--quietmode", "--badsum", "-a",
             "-x", "-i", "-n", "-d", "-l", "-c", "-H", "-A", "-V", "-T", "-q", "-b", "-j")  # fmt: skip
_DMSETUP = frozenset({"table", "status", "info", "ls", "deps", "version", "targets"})
_SYSTEMCTL = frozenset({"is-enabled", "is-active", "is-failed", "show", "cat", "list-units", "list-timers"})
_DMESG = ("-C", "--clear", "-c", "--read-clear", "-D", "--console-", "-E", "-n")
_JOURNALCTL = ("--vacuum", "--rotate", "--flush", "--sync", "--relinquish-var", "--smart-relinquish-var",
               "--update-catalog", "--setup-keys")  # fmt: skip
_Words = tuple[str, ...]


def _begin(words: _Words, with_one_of: tuple[str, ...]) -> bool:
    """Whether all options begin with one of these."""
    return all(word.startswith(with_one_of) for word in words if word.startswith("-"))


def _none(words: _Words, of: tuple[str, ...]) -> bool:
    return not any(word.startswith(of) for word in words)


_ANY: Callable[[_Words], bool] = lambda _: True  # noqa: E731
RULES: dict[str, Callable[[_Words], bool]] = {
    "mdadm": lambda words: words[0] in _MDADM,
    "smartctl": lambda words: _begin(words, _SMARTCTL),
    "dmsetup": lambda words: words[0] in _DMSETUP,
    "systemctl": lambda words: words[0] in _SYSTEMCTL,
    "wipefs": lambda words: "--no-act" in words,
    "sfdisk": lambda words: words[0] in {"--json", "--dump"},
    "tune2fs": lambda words: words[0] == "-l",
    "xfs_db": lambda words: words[0] == "-r",
    "xfs_io": lambda words: words[0] == "-r",
    "debugfs": lambda words: "-w" not in words,
    "dumpe2fs": lambda words: words[0] == "-h",
    "dmesg": lambda words: _none(words, _DMESG),
    "journalctl": lambda words: _none(words, _JOURNALCTL),
    "ledctl": lambda words: words[-1] == "--list-controllers",
    "blockdev": lambda words: words[0].startswith("--get"),
    "blkid": lambda words: words[0] == "--probe" or words[:2] == ("--cache-file", "/dev/null"),
    "lvmconfig": lambda words: _none(words, ("--file", "-f")),
    **dict.fromkeys(("lsblk", "lvs", "vgs", "pvs", "xfs_info"), _ANY),
}
"""By tool, whether it changes nothing with these words, of which there is one at least."""


def only_asks(argv: Sequence[str]) -> bool:
    """Whether a command changes nothing.

    Args:
        argv: the tool's name, and its words.
    """
    tool, words = argv[0], tuple(argv[1:])
    if words == ("--version",):
        return True
    return tool in RULES and RULES[tool](words or ("",))
