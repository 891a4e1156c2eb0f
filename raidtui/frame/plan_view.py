"""The screens of a plan: its review with the confirmation, and the job that carries it out, live.

The review shows what is lost, every step with its reason, and what undoes it. The job shows its steps as the
journal has them, and continues when its screen is closed.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from raidtui.frame.pages import FrameScreen, PageScreen
from raidtui.frame.text_field import TextField, Typing
from raidtui.host.readers.host_reader import READONLY
from raidtui.jobs.states import SETTLED, UNDER_WAY, JobState, entry_text
from raidtui.jobs.waiting import JobWait
from raidtui.model.plan import Harm, Plan, Step
from raidtui.model.survey import Device
from raidtui.plans.shell_script import content_changes, undo_sentences, undoable
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit, tail, visible
from raidtui.view.units import counted
from raidtui.view.wrapping import wrap, wrapped
from raidtui.watch.storage import JobNews

DO, SAVE = "do", "save"
_FIELD = 16
_PACE_S = 0.2
_BEGIN_S = 20.0
_ROLES = {"step done": "ok", "step failed": "bad", "undo failed": "bad", "begin": "accent", "done": "ok"}
Ask = Callable[[str, int], Awaitable[JobNews]]
"""Returns the entries of a job's journal after the first so many, and its state."""


class PlanView(Typing, PageScreen[str]):
    """Gives ``do``, ``save`` or None. Enter alone never confirms.

    Args:
        plan: the plan.
        devices: the devices, by kernel name.
        title: the title; the plan's where it is "".
        right: at the right of the title.
        asks_name: whether the name is typed to confirm; None: where the plan destroys.
    """

    def __init__(
        self,
        plan: Plan,
        devices: Mapping[str, Device] | None = None,
        *,
        title: str = "",
        right: str = "review",
        asks_name: bool | None = None,
    ) -> None:
        super().__init__(visible(title or f"{plan.subject}: {plan.title}"))
        self._plan = plan
        self._devices = devices or {}
        self._right = right
        asks_name = plan.harm is Harm.DESTROYS if asks_name is None else asks_name
        self.line = TextField(most=64) if asks_name else None
        self._shown_s = math.inf

    def on_mount(self) -> None:
        """Draw."""
        self._shown_s = Message().time
        self.draw()
        self._body.focus()

    def draw(self) -> None:
        """Draw everything."""
        self.show_head(self._title, self._right)
        self._draw_foot()
        self.show_body(review_lines(self._plan, self.inner_width - 1, self._devices))

    def _draw_foot(self) -> None:
        if self.line is not None:
            ask = f"To continue, type {visible(self._plan.confirm)} and Enter: "
            field, warning = f"[{self.line.shown:<{_FIELD}}]", no_undo(self._plan)
            gap = self.inner_width - cell_width(ask) - cell_width(field) - len(warning)
            line: Line = [(ask, "warn"), (field, "strong")]
            if gap > 1:
                line.append((" " * gap + warning, "warn"))
            self.show_keys(("^s", "save as script"), ("↑↓", "scroll"), ("Esc", "back"), notes=[line])
        else:
            self.show_keys(("y", "do it"), ("s", "save as script"), ("↑↓", "scroll"), ("Esc", "back"))

    def on_key(self, event: events.Key) -> None:
        """Take the letter or the name; keys typed before the plan was shown confirm nothing."""
        if event.time < self._shown_s and event.key != "escape":
            event.stop()
            event.prevent_default()
            return
        if event.key == "ctrl+s" or (event.key == "s" and self.line is None):
            self.dismiss(SAVE)
        elif self.line is None:
            if event.key != "y":
                return
            self.dismiss(DO)
        elif event.key == "enter":
            if self.line is not None and self.line.text == self._plan.confirm:
                self.dismiss(DO)
        else:
            self.edits(event)
            return
        event.stop()
        event.prevent_default()

    def takes_paste(self, event: events.Paste) -> bool:
        """Whether a name was pasted when the plan was shown already."""
        return event.time >= self._shown_s

    def edited(self) -> None:
        """Draw the typed name."""
        self._draw_foot()


_NUMBER = 4
_TAIL = 4
_MODEL = 19
_LEAST_GAP = 3


def review_lines(plan: Plan, width: int, devices: Mapping[str, Device] | None = None) -> list[Line]:
    """Return the review of a plan in lines of at most ``width`` cells.

    A plan that rests on a trial says what it means before its many steps: who confirms it has read that.

    Args:
        plan: the plan.
        width: cells of a line.
        devices: the devices, by kernel name.
    """
    steps = _losses(plan, width, devices or {})
    for number, step in enumerate(plan.steps, 1):
        steps += step_lines(number, step, [text.rstrip() for text in content_changes(step)], width)
    means: list[Line] = []
    for text in (plan.warning, *plan.notes):
        means += wrapped(text, width, "warn" if text == plan.warning else "plain")
    grave = plan.harm is Harm.DESTROYS and not _erases_empty(plan)
    means += wrapped(_end(plan), width, "warn" if grave else "plain")
    for text in undo_sentences(plan):
        means += wrapped(text.strip(), width, "dim", indent=2, hang=2)
    if not plan.grounds:
        return [*steps, [], *means]
    lines: list[Line] = []
    for number, text in enumerate(plan.grounds):
        lines += wrapped(text, width, "plain" if number else "strong", indent=2 if number else 0)
    return [*lines, [], *means, [], [("The steps", "dim")], *steps]


def no_undo(plan: Plan) -> str:
    """Return after which step there is no undo; "" where every step has one."""
    step = next((number for number, step in enumerate(plan.steps, 1) if step.destroys), 0)
    return f"no undo after step {step}" if step else ""


def _end(plan: Plan) -> str:
    """Return how many steps can be undone."""
    if _erases_empty(plan):
        return "Nothing is lost, and the steps below remove what is new." if undo_sentences(plan) else ""
    if words := no_undo(plan):
        rest = "; the steps below only remove what is new" if undo_sentences(plan) else ""
        return f"{words[0].upper()}{words[1:]}: what is on the devices cannot be restored{rest}."
    return undoable(plan)


def _erased(plan: Plan) -> list[str]:
    """Return the kernel names of the devices that a plan overwrites."""
    words = {word for step in plan.steps if step.destroys for word in step.argv}
    return [name for name in plan.devices if f"/dev/{name}" in words]


def _erases_empty(plan: Plan) -> bool:
    """Whether all that a plan overwrites was read and is empty."""
    return bool(_erased(plan)) and not plan.losses and not plan.loss_sentences


def _losses(plan: Plan, width: int, devices: Mapping[str, Device]) -> list[Line]:
    """Return each device that is overwritten, with its contents; empty ones, too."""
    if plan.loss_sentences and not plan.losses:  # a plan of an earlier version
        return [
            [("Lost afterwards:", "bad")],
            *(line for text in plan.loss_sentences for line in wrapped(text, width, "bad", indent=2)),
            [],
        ]
    lost = {loss.device: loss.what for loss in plan.losses}
    names = _erased(plan)
    names += [name for name in lost if name not in names]
    if not names:
        return []
    only_superblocks = all(
        step.argv[:2] == ("mdadm", "--zero-superblock") for step in plan.steps if step.destroys
    )
    count = counted(len(names), "device")
    head, role = ("Lost afterwards:" if only_superblocks else f"This erases {count}:"), "bad"
    if _erases_empty(plan):
        head, role = f"This writes to {count} that {'is' if len(names) == 1 else 'are'} empty:", "strong"
    room = max(len(visible(name)) for name in names) + 2
    models = [visible(devices[name].disk.model or "") for name in names if name in devices]
    model = min(_MODEL, max(map(cell_width, models), default=0))
    lines: list[Line] = [[(head, role)]]
    for name in names:
        what = visible(lost.get(name, "")) or "empty"
        start = f"  {fit(visible(name), room)}{_disk(devices.get(name), model)}"
        parts = wrap(what, max(20, width - cell_width(start)))
        lines.append([(start, "strong"), (parts[0], "bad" if name in lost else "plain")])
        lines += [[(" " * cell_width(start), "plain"), (part, "bad")] for part in parts[1:]]
    return [*lines, []]


def _disk(device: Device | None, model: int) -> str:
    if device is None:
        return ""
    serial = tail(visible(device.disk.identity), _TAIL + 1)
    kind = f"{fit(visible(device.disk.model or ''), model)} " if model else ""
    return f"{kind}{fit(serial, _TAIL + 1)}  "


def step_lines(number: int, step: Step, changes: Sequence[str], width: int) -> list[Line]:
    """Return a step: its command, its reason, and what changes in the file that it writes."""
    command = shlex.join(step.argv) if step.stdin else step.command
    parts = wrap(command, width - _NUMBER, hang=2) or ("",)
    mark = f"{number:>{_NUMBER - 1}} "
    lines: list[Line] = [[(mark, "bad" if step.destroys else "dim"), (parts[0], "strong")]]
    lines += [[(" " * _NUMBER, "plain"), (part, "strong")] for part in parts[1:]]
    gap = width - _NUMBER - cell_width(parts[-1]) - cell_width(visible(step.why))
    if len(parts) == 1 and gap >= _LEAST_GAP:
        lines[-1].append((" " * gap + visible(step.why), "dim"))
    else:
        lines += wrapped(step.why, width, "dim", indent=_NUMBER + 2)
    given = [f"< {text}" for text in step.stdin.rstrip("\n").split("\n") if text]
    for text in (*given, *changes):
        lines += wrapped(text, width, indent=_NUMBER + 2, hang=2)
    return lines


class JobView(FrameScreen[str]):
    """Gives ``resume``, ``rollback``, ``cancel``, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "answer('cancel')", show=False),
        Binding("r", "answer('resume')", show=False),
        Binding("b", "answer('rollback')", show=False),
    ]

    def __init__(self, job_id: str, title: str, ask: Ask, *, acts: bool = True) -> None:
        super().__init__(visible(f"{title}"))
        self.job_id = job_id
        self._acts = acts
        self._ask = ask
        self._seen = 0
        self._waits = 0
        self._lines: list[Line] = []
        self._wait: JobWait | None = None
        self.state = JobState.RUNNING
        self._destroyed = False
        self.backs = False
        """Whether it can be rolled back."""

    def on_mount(self) -> None:
        """Follow the journal from now on."""
        self._body.focus()
        self._draw()
        self.set_interval(_PACE_S, self._look)

    async def _look(self) -> None:
        if self.state not in UNDER_WAY:
            return
        news = await self._ask(self.job_id, self._seen)
        self._seen += len(news.entries)
        for entry in news.entries:
            self._take(entry)
        self._waits = 0 if news.entries else self._waits + 1
        before, self.state = (self.state, self._wait), news.state
        self._wait, self.backs, self._destroyed = news.wait, news.backs, news.destroyed
        if self.state is JobState.RUNNING and self._is_lost:
            self.state = JobState.INTERRUPTED
        if news.entries or (self.state, self._wait) != before:
            self._draw()

    @property
    def _is_lost(self) -> bool:
        """Whether the worker never started, or was killed before its first entry."""
        return not self._lines and self._waits > _BEGIN_S / _PACE_S

    def _take(self, entry: Mapping[str, Any]) -> None:
        role = _ROLES.get(str(entry.get("event")), "plain")
        for text in entry_text(entry).split("\n"):
            if text:
                self._lines += wrapped(text, self.inner_width, role, hang=7)

    def _draw(self) -> None:
        wait: list[Line] = [[(self._wait.words, "accent")]] if self._wait is not None else []
        self.show_body([*(self._lines or [[("starting the worker …", "dim")]]), *wait])
        self._body.keep_in_view(len(self._body.lines) - 1)
        if not self._acts:
            self.show_foot(("Esc", "back"), note=READONLY)
        elif self.state is JobState.RUNNING:
            self.show_foot(("x", "cancel after this step"), ("Esc", "leave; the job continues"))
        elif self.state is JobState.GOES_ON:
            cancel = [("x", "cancel before the next step")] if self._more else []
            back = [("b", "roll back")] if self.backs else []
            self.show_foot(*cancel, *back, ("Esc", "leave; it continues"))
        elif self.state in SETTLED:
            undo = [("b", "undo it")] if self._undoes else []
            self.show_foot(*undo, ("Esc", "back"))
        else:
            lost = "what it has wiped stays wiped" if self._destroyed else "nothing is lost"
            words = f"{self.state}: {lost}; the journal records what was under way"
            back = [("b", "roll back")] if self.backs else []
            self.show_foot(("r", "resume"), *back, ("Esc", "back"), note=words)

    @property
    def _more(self) -> bool:
        return self._wait is not None and self._wait.more

    @property
    def _undoes(self) -> bool:
        return self.backs and self.state is JobState.DONE

    def action_answer(self, answer: str) -> None:
        """Close with what is to be done with the job, where that is possible in its state."""
        waits, ended = self.state is JobState.GOES_ON, self.state not in SETTLED | UNDER_WAY
        can = {
            "cancel": self.state is JobState.RUNNING or (waits and self._more),
            "resume": ended,
            "rollback": self.backs and (waits or ended or self._undoes),
        }
        if self._acts and can[answer]:
            self.dismiss(answer)
