"""Completions for bash, zsh and fish."""

from __future__ import annotations

from release.commands import Argument, Command
from release.places import HOUSE

_KINDS = {
    **dict.fromkeys(("FILE", "PATH", "FOLDER", "PLAN"), "files"),
    **dict.fromkeys(("ARRAY",), "arrays"),
    **dict.fromkeys(("DEVICE", "DISK", "OLD", "NEW", "MEMBER", "SOURCE", "TARGET"), "devices"),
}
"""What a value is, by what stands for it in the help."""
_SHELLS = HOUSE / "release" / "shells"
_HERE = "# (the tables are generated here)\n"


def completions(top: Command) -> dict[str, str]:
    """Return shell -> script: bash, zsh, fish.

    Args:
        top: raidtui.
    """
    made = {"bash": _bash(top), "zsh": _zsh(top), "fish": _fish(top)}
    return {
        shell: (_SHELLS / f"raidtui.{shell}").read_text(encoding="utf-8").replace(_HERE, f"{text}\n")
        for shell, text in made.items()
    }


def _kind(argument: Argument) -> str:
    """Return what completes a value: files, arrays, devices, "" for nothing known."""
    return _KINDS.get(argument.value, "")


def _path(command: Command) -> str:
    return " ".join(command.path)


def _flags(command: Command) -> str:
    return " ".join(flag for each in command.options for flag in each.flags)


def _bash(top: Command) -> str:
    names, options, values, places = [], [], [], []
    for command in top.walk():
        path = _path(command)
        if command.commands:
            names.append(
                f"        '{path}') words='{' '.join(each.path[-1] for each in command.commands)}' ;;"
            )
        options.append(f"        '{path}') words='{_flags(command)}' ;;")
        for each in command.options:
            if each.value:
                flags = "|".join(f"'{path} {flag}'" for flag in each.flags)
                values.append(f"        {flags}) {_bash_value(each)} ;;")
        for number, each in enumerate(command.positional):
            place = f"'{path} '*" if each.many else f"'{path} {number}'"
            places.append(f"        {place}) {_bash_value(each)} ;;")
    tables = {"commands": names, "options": options, "value": values, "positional": places}
    return "\n".join(
        "\n".join(
            [f"_raidtui_{name}() {{", '    case "$1" in', *lines, "        *) return 1 ;;", "    esac", "}"]
        )
        for name, lines in tables.items()
    )


def _bash_value(argument: Argument) -> str:
    many = "many=yes " if argument.many and argument.flags else ""
    if argument.choices:
        return f"{many}kind=words words='{' '.join(argument.choices)}'"
    return f"{many}kind={_kind(argument) or 'any'}"


def _zsh(top: Command) -> str:
    return "\n\n".join(_zsh_function(each) for each in top.walk())


def _zsh_name(path: tuple[str, ...]) -> str:
    return "_" + "_".join(path).replace("-", "_")


def _zsh_function(command: Command) -> str:
    lines = [line for each in command.options for line in _zsh_option(each)]
    if not command.commands:
        lines += [_zsh_positional(number, each) for number, each in enumerate(command.positional, start=1)]
        return _zsh_body(command, ["    _arguments -s " + " \\\n        ".join(lines)])
    names = [f"        {_zsh_quote(f'{each.path[-1]}:{each.summary}')}" for each in command.commands]
    cases = [f"            {each.path[-1]}) {_zsh_name(each.path)} ;;" for each in command.commands]
    lines += ["'1: :->command'", "'*:: :->below'"]
    return _zsh_body(
        command,
        [
            "    local state line",
            "    local -a names=(",
            *names,
            "    )",
            "    _arguments -C -s " + " \\\n        ".join(lines),
            "    case $state in",
            f"        command) _describe {command.path[-1]} names ;;",
            "        below) case $words[1] in",
            *cases,
            "        esac ;;",
            "    esac",
        ],
    )


def _zsh_body(command: Command, lines: list[str]) -> str:
    return "\n".join([f"{_zsh_name(command.path)}() {{", *lines, "}"])


def _zsh_quote(words: str) -> str:
    return "'" + words.replace("'", "'\\''") + "'"


def _zsh_words(words: str) -> str:
    return words.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def _zsh_value(argument: Argument) -> str:
    shown = _zsh_words(argument.value)
    if argument.choices:
        return f":{shown}:({' '.join(argument.choices)})"
    kind = _kind(argument)
    return f":{shown}:{'_files' if kind == 'files' else f'_raidtui_{kind}' if kind else ' '}"


def _zsh_option(argument: Argument) -> list[str]:
    words = f"[{_zsh_words(argument.words)}]"
    value = _zsh_value(argument) if argument.value else ""
    again = "*" if argument.many else ""
    return [
        _zsh_quote(f"{again}{flag}{'=' if value and flag.startswith('--') else ''}{words}{value}")
        for flag in argument.flags
    ]


def _zsh_positional(number: int, argument: Argument) -> str:
    return _zsh_quote(f"{'*' if argument.many else number}{_zsh_value(argument)}")


def _fish(top: Command) -> str:
    known = " ".join(_fish_quote(_path(each)) for each in top.walk())
    return "\n".join(
        [f"set -g __raidtui_known {known}", *(line for each in top.walk() for line in _fish_lines(each))]
    )


def _fish_lines(command: Command) -> list[str]:
    at = f"complete -c raidtui -n {_fish_quote(f'__raidtui_at {_path(command)}')}"
    below = [f"{at} -a {each.path[-1]} -d {_fish_quote(each.summary)}" for each in command.commands]
    options = [
        f"{at} {_fish_flags(each)}{_fish_value(each) if each.value else ''} -d {_fish_quote(each.words)}"
        for each in command.options
    ]
    values = [_fish_value(each).replace(" -x", "") for each in command.positional]
    return [*below, *options, *(f"{at}{value}" for value in values if value)]


def _fish_flags(argument: Argument) -> str:
    return " ".join(
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in argument.flags
    )


def _fish_value(argument: Argument) -> str:
    kind = _kind(argument)
    if argument.choices:
        return f" -x -a {_fish_quote(' '.join(argument.choices))}"
    if kind == "files":
        return " -r -F"
    return f" -x -a '(__raidtui_{kind})'" if kind else " -x"


def _fish_quote(words: str) -> str:
    return "'" + words.replace("\\", "\\\\").replace("'", "\\'") + "'"
