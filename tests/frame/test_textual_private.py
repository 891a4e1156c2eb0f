"""The private names of Textual that the screen uses: all in one file, and as they are expected to be."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from textual._compositor import ChopsUpdate, Compositor
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.binding import BindingsMap
from textual.command import CommandPalette
from textual.dom import DOMNode
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widget import Widget

import raidtui
from raidtui.frame.textual_private import is_default_prevented, wait_ms

ROOM = Path(raidtui.__file__).parent
LIST = ROOM / "frame" / "textual_private.py"

METHODS = {
    (Widget, "_set_dirty"): "(self, *regions: 'Region') -> 'None'",
    (Screen, "_compositor_refresh"): "(self) -> 'None'",
    (App, "_display"): "(self, screen: 'Screen', renderable: 'RenderableType | None') -> 'None'",
    (ChopsUpdate, "__init__"): (
        "(self, chops: 'Sequence[Mapping[int, Strip | None]]', spans: 'list[tuple[int, int, int]]',"
        " chop_ends: 'list[list[int]]') -> 'None'"
    ),
    (Screen, "_forward_event"): "(self, event: 'events.Event') -> 'None'",
    (Widget, "_on_key"): "(self, event: 'events.Key') -> 'None'",
    (MessagePump, "_dispatch_message"): "(self, message: 'Message') -> 'None'",
    (MessagePump, "_close_messages_no_wait"): "(self) -> 'None'",
    (CommandPalette, "_action_command_list"): "(self, action: 'str') -> 'None'",
    (App, "_handle_exception"): "(self, error: 'Exception') -> 'None'",
    (App, "_fatal_error"): "(self) -> 'None'",
    (LinuxDriver, "_get_terminal_size"): "(self) -> 'tuple[int, int]'",
    (LinuxDriver, "_sigcont_application"): "(self, *_) -> 'None'",
    (BindingsMap, "get_bindings_for_key"): "(self, key: 'str') -> 'list[Binding]'",
    (XTermParser, "__init__"): "(self, debug: 'bool' = False) -> 'None'",
}
FIELDS: dict[tuple[type, str], str] = {
    (Screen, "_compositor"): "Compositor()",
    (Screen, "_dirty_widgets"): "set()",
    (Compositor, "_dirty_regions"): "set()",
    (App, "_batch_count"): "0",
    (App, "_driver"): "None",
    (App, "_disable_tooltips"): "False",
    (App, "_disable_notifications"): "False",
    (Message, "_no_default_action"): "False",
    (DOMNode, "_bindings"): "",
    (Driver, "_app"): "app",
    (Driver, "_debug"): "debug",
    (Driver, "_loop"): "asyncio.get_running_loop()",
    (LinuxDriver, "_file"): "sys.__stderr__",
    (LinuxDriver, "_must_signal_resume"): "False",
    (XTermParser, "_timeout_time"): "None",
}
"""What the constructor assigns; "" for what is made otherwise."""
MODULES = {"textual._compositor", "textual._xterm_parser"}


@cache
def fields_of(owner: type) -> dict[str, str]:
    """What the constructors of a class and its bases assign to self."""
    found: dict[str, str] = {}
    for each in reversed(owner.__mro__[:-1]):
        if not each.__module__.startswith("textual"):
            continue
        for node in ast.walk(ast.parse(inspect.getsource(each))):
            targets = node.targets if isinstance(node, ast.Assign) else []
            if isinstance(node, ast.AnnAssign) and node.value is not None:
                targets = [node.target]
            for target in targets:
                if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                    assert isinstance(node, ast.Assign | ast.AnnAssign)
                    assert node.value is not None
                    found.setdefault(target.attr, ast.unparse(node.value))
    return found


@pytest.mark.parametrize(("owner", "name"), METHODS)
def test_a_method_is_as_expected(owner: type, name: str) -> None:
    assert str(inspect.signature(getattr(owner, name))) == METHODS[owner, name]


@pytest.mark.parametrize(("owner", "name"), FIELDS)
def test_a_field_is_as_expected(owner: type, name: str) -> None:
    assert name in fields_of(owner)
    if FIELDS[owner, name]:
        assert fields_of(owner)[name] == FIELDS[owner, name]


def test_what_they_do() -> None:
    message = Message()
    assert not is_default_prevented(message)  # type: ignore[arg-type]
    message.prevent_default()
    assert is_default_prevented(message)  # type: ignore[arg-type]
    parser = XTermParser()
    assert wait_ms(parser) is None
    list(parser.feed("\x1b"))
    assert 0 < (wait_ms(parser) or 0) <= 1000


def test_no_name_is_missing_from_this_test() -> None:
    tree = ast.parse(LIST.read_text(encoding="utf-8"))
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    used |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    private = {name for name in used if name.startswith("_") and not name.startswith("__")}
    assert private == {name for _, name in (*METHODS, *FIELDS) if name.startswith("_") and name != "__init__"}
    imported = {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and "._" in node.module
    }
    assert imported == MODULES


# -- no other file touches one


def classes() -> Iterator[type]:
    """All classes of the screen."""
    for info in pkgutil.walk_packages([str(ROOM)], "raidtui."):
        if not {"app", "frame", "screen"} & set(info.name.split(".")):
            continue
        module = importlib.import_module(info.name)
        for each in vars(module).values():
            if inspect.isclass(each) and each.__module__ == info.name:
                yield each


def of_textual(owner: type) -> set[str]:
    """The private names that a class has from Textual."""
    found: set[str] = set()
    for each in owner.__mro__:
        if each.__module__.startswith("textual"):
            found |= {*vars(each), *fields_of(each)}
    return {name for name in found if name.startswith("_") and not name.startswith("__")}


def names_in(owner: type) -> dict[str, int]:
    """The names that a class's own code defines, or uses on self."""
    found: dict[str, int] = {}
    for node in ast.walk(ast.parse(inspect.cleandoc("\n" + inspect.getsource(owner)))):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in {"self", "super()"}:
            found[node.attr] = node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = node.lineno
    return found


def test_no_class_of_ours_uses_or_replaces_a_private_name_of_textual() -> None:
    touched: dict[str, Any] = {}
    for each in classes():
        if each.__module__.endswith(".textual_private"):
            continue
        inherited = of_textual(each)
        for owner in each.__mro__:
            if owner.__module__.startswith("raidtui.") and not owner.__module__.endswith(".textual_private"):
                for name in names_in(owner).keys() & inherited:
                    touched[f"{owner.__module__}.{owner.__name__}.{name}"] = each.__name__
    assert touched == {}


def test_no_other_file_imports_a_private_module_or_reaches_into_an_object() -> None:
    touched = []
    for path in ROOM.rglob("*.py"):
        parts = path.relative_to(ROOM).parts
        on_screen = "frame" in parts or "screen" in parts or (parts[0] == "app" and len(parts) == 2)
        if path == LIST or not on_screen or path.name == "cli.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual"):
                names = [*(node.module or "").split("."), *(each.name for each in node.names)]
                touched += [f"{path.name}: {node.module}" for name in names if name.startswith("_")]
            elif (
                isinstance(node, ast.Attribute)
                and node.attr.startswith("_")
                and not node.attr.startswith("__")
                and ast.unparse(node.value) not in {"self", "super()", "cls", "os", "sys"}
            ):
                touched.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
    assert touched == []
