"""A part of alerts' plan, and the steps that parts have in common."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.model.alert_setup import AlertSetup
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Refusal, RefusalCode, RunTool, Step
from raidtui.plans import persist

REPLACE = "--replace has it call raidtui's hook instead"
"""What to do about another program that is called already."""


class AlertPart:
    """The steps of one part; or why it is refused; or a note on why it is left out."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.title = ""
        self.refusal: Refusal | None = None
        self.notes: list[str] = []

    def refuse(self, code: RefusalCode, why: str, remedy: str = "") -> AlertPart:
        """Refuse the part; return it."""
        self.refusal = Refusal(code=code, why=why, remedy=remedy)
        return self


def unit_fact(unit: str, state: str) -> Fact:
    """Return the fact that a unit is in a state: enabled, disabled, active, inactive."""
    return Fact(kind=FactKind.UNIT, subject=unit, value=state)


def put_program(setup: AlertSetup, path: str, why: str) -> Iterator[Step]:
    """Yield the steps that put the hook at a path."""
    folder = path.rpartition("/")[0]
    if folder not in setup.folders and folder == "/etc/raidtui":
        yield RunTool(argv=("mkdir", "--parents", folder), why=f"{folder} does not exist yet")
    yield put_file(setup, path, setup.hook, why=why)
    yield RunTool(argv=("chmod", "0755", path), why="it is a program")


def put_file(setup: AlertSetup, path: str, new: str, *, why: str, after: tuple[Step, ...] = ()) -> Step:
    """Return the step that writes a file; undone, the old one is restored, and ``after`` is done."""
    return persist.put_file(setup.texts.get(path), path, new, why=why, after=after)
