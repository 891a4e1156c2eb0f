"""Names of keys, as Textual writes them, and the bytes that an xterm sends for them."""

_MODIFIERS = {"shift": 1, "alt": 2, "ctrl": 4}
_PLAIN = {
    "enter": b"\r",
    "tab": b"\t",
    "shift+tab": b"\x1b[Z",
    "escape": b"\x1b",
    "backspace": b"\x7f",
    "space": b" ",
    "ctrl+space": b"\0",
}
_LETTERED = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
_LETTERED |= {"f1": "P", "f2": "Q", "f3": "R", "f4": "S"}
_NUMBERED = {"insert": 2, "delete": 3, "pageup": 5, "pagedown": 6, "f5": 15, "f6": 17, "f7": 18, "f8": 19}
_NUMBERED |= {"f9": 20, "f10": 21, "f11": 23, "f12": 24}


def to_bytes(key: str, *, application: bool = False) -> bytes:
    """What the terminal sends for `c`, `down`, `shift+right`, `ctrl+p`, `alt+x`, `f5`, ...

    `application`: the program asked for the cursor keys' other form (DECCKM), as curses does.

    Raises:
        ValueError: no such key.
    """
    if key in _PLAIN:
        return _PLAIN[key]
    if len(key) == 1:
        return key.encode()
    *prefixes, name = key.split("+")
    if not set(prefixes) <= set(_MODIFIERS):
        raise ValueError(f"unknown key: {key}")
    modifier = 1 + sum(_MODIFIERS[prefix] for prefix in prefixes)
    if name in _LETTERED:
        plain = f"\x1bO{_LETTERED[name]}" if application or name[1:].isdigit() else f"\x1b[{_LETTERED[name]}"
        return (plain if modifier == 1 else f"\x1b[1;{modifier}{_LETTERED[name]}").encode()
    if name in _NUMBERED:
        return (
            f"\x1b[{_NUMBERED[name]}~" if modifier == 1 else f"\x1b[{_NUMBERED[name]};{modifier}~"
        ).encode()
    if prefixes == ["ctrl"] and len(name) == 1 and "a" <= name <= "z":
        return bytes([ord(name) & 0x1F])
    if prefixes == ["alt"] and (len(name) == 1 or name in _PLAIN):
        return b"\x1b" + to_bytes(name)
    raise ValueError(f"unknown key: {key}")


def click(x: int, y: int, button: int = 0) -> bytes:
    """A mouse button pressed and released on a cell (counted from 0), in the SGR protocol."""
    return f"\x1b[<{button};{x + 1};{y + 1}M\x1b[<{button};{x + 1};{y + 1}m".encode()


def wheel(x: int, y: int, *, up: bool) -> bytes:
    """One notch of the mouse wheel."""
    return f"\x1b[<{64 if up else 65};{x + 1};{y + 1}M".encode()
