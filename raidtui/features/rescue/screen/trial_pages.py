"""The pages of a trial: what is tried, where its overlays lie, what is looked at; then what it has shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType

from raidtui.features.rescue.screen.guide_lines import text_lines
from raidtui.features.rescue.search.results import CheckResult
from raidtui.features.rescue.session_trials import KnownTrial, TrialWish
from raidtui.features.rescue.trial.trial_record import TrialMethod
from raidtui.frame.pages import PageScreen
from raidtui.frame.plan_view import review_lines
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.view.line import Line
from raidtui.view.text import fit, visible
from raidtui.view.units import SECTOR_BYTES, binary_size, counted, joined

_METHODS: Mapping[TrialMethod, str] = {
    TrialMethod.READ_ONLY: "md starts it read-only on the members themselves: nothing is stored.",
    TrialMethod.MAPPED: "The device mapper joins the members read-only: nothing is stored.",
    TrialMethod.OVERLAYS: "md starts it on copy-on-write overlays: what it writes goes to the store, and"
    " is discarded with it.",
}
_STORE, _FILES, _VERIFY, _ENCRYPTED = "store in", "files", "members", "encrypted"
_LOOKS: Mapping[tuple[bool, bool], str] = {
    (False, False): "not looked at",
    (True, False): "mounted read-only and listed",
    (True, True): "left mounted read-only, to look around",
}
"""What happens to files: whether they are listed, whether they stay mounted."""
_LABEL = 12
PLAN, TRY_AGAIN, TAKE_DOWN, SAVE_TO = "plan", "again", "down", "save"
_TALL, _WIDE = 36, 90
_RESULTS: Mapping[CheckResult, tuple[str, str]] = {
    CheckResult.CLEAN: ("● clean: the check found nothing wrong", "ok"),
    CheckResult.ERRORS: ("▲ the check found errors", "warn"),
    CheckResult.NO_FILE_SYSTEM: ("▲ nothing on it could be checked", "warn"),
    CheckResult.NOT_POSSIBLE: ("✖ mdadm or the kernel refuses it", "bad"),
    CheckResult.NOT_TRIED: ("? not tried: no result", "warn"),
}
_OF_FOLDER = frozenset({RefusalCode.TOO_SMALL, RefusalCode.NOT_FOUND, RefusalCode.INVALID})


class TrialScreen(PageScreen[TrialWish]):
    """Gives what is to be tried, or None.

    Args:
        wish: what is tried, as far as it is known.
        rooms: folders for stores, the best first, with the free bytes of each.
        said: why it is back.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("left,h", "change(-1)", show=False),
        Binding("right,l,space", "change(1)", show=False),
        Binding("enter", "start", show=False),
        Binding("e", "folder", show=False),
        Binding("p", "passphrase", show=False),
    ]

    def __init__(self, wish: TrialWish, rooms: tuple[tuple[str, int], ...], said: str = "") -> None:
        super().__init__("")
        stored = wish.method is TrialMethod.OVERLAYS
        self._rooms = rooms if stored else ()
        fits = [folder for folder, free in self._rooms if free >= wish.room_bytes]
        self._wish = wish if wish.store else replace(wish, store=fits[0] if fits else "")
        self._rows = (*((_STORE,) if stored else ()), _FILES, _VERIFY, _ENCRYPTED)
        self._at = 0
        self._said = said
        self.wants_folder = False
        """Whether it was closed to type a folder for the stores."""
        self.wants_passphrase = False
        """Whether it was closed to type a passphrase."""

    def on_mount(self) -> None:
        """Draw."""
        self.draw()
        self._body.focus()

    @property
    def _can_start(self) -> bool:
        return self._wish.method is not TrialMethod.OVERLAYS or bool(self._wish.store)

    def draw(self) -> None:
        """Draw everything."""
        width, wish = self.inner_width, self._wish
        self.show_head(visible(f"Try: {wish.label}"), "nothing is written to the members")
        names = joined(list(wish.made.devices))
        lines: list[Line] = [
            *text_lines(f"With {names}. {_METHODS[wish.method]}", width, "plain"),
            *text_lines(
                f"The kernel refuses all writes to {counted(len(wish.made.devices), 'member')} during"
                " the trial. What is on the array is checked without repair; then everything"
                " is taken down. It is a job: it continues when this page is left.",
                width,
                "plain",
            ),
            [],
        ]
        first = len(lines)
        lines += [self._row(row, width) for row in self._rows]
        lines += [[], *text_lines(self._note(), width, "dim")]
        if self._said:
            lines += [[], *text_lines(self._said, width, "warn")]
        self.show_body(lines, selected=first + self._at)
        onward = [("Enter", "start the trial")] if self._can_start else []
        typed = [("e", "another folder")] if _STORE in self._rows else []
        typed = [("p", "type a passphrase")] if self._rows[self._at] == _ENCRYPTED else typed
        self.show_keys(("↑↓", "choose"), ("←→", "change"), *typed, *onward, ("Esc", "back"))

    def _row(self, row: str, width: int) -> Line:
        here = self._rows[self._at] == row
        value = visible(self._value(row))
        shown = f"‹ {value} ›" if here else f"  {value}"
        role = "key" if here else "plain"
        if row == _STORE and not self._can_start:
            role = "warn"
        return [(fit(f"{'▸' if here else ' '} {fit(row, _LABEL)}{shown}", width), role)]

    def _value(self, row: str) -> str:
        if row == _STORE:
            need = binary_size(self._wish.room_bytes)
            free = dict(self._rooms).get(self._wish.store)
            if free is None:
                return f"no usual folder has room: {need} needed"
            return f"{self._wish.store}: {need} needed, {binary_size(free)} free"
        if row == _FILES:
            return _LOOKS[self._wish.hold or self._wish.files, self._wish.hold]
        if row == _ENCRYPTED:
            return (
                "LUKS is opened with the passphrase typed" if self._wish.passphrase else "LUKS stays closed"
            )
        return (
            "read in full before and after, and compared"
            if self._wish.verify
            else "first and last MiB compared"
        )

    def _note(self) -> str:
        row = self._rows[self._at]
        if row == _STORE:
            others = ", ".join(f"{folder} ({binary_size(free)})" for folder, free in self._rooms)
            return (
                "What is written in the trial goes to sparse files there; a full store ends"
                f" the trial without a result. Free: {others or 'nothing is known'}. e sets another folder."
            )
        if row == _FILES and self._wish.hold:
            return (
                "It stays mounted read-only, to look around and to copy files out, until it is taken down: x"
                " on the page of its proof, or raidtui rescue clean. The members stay read-only until then."
            )
        if row == _FILES:
            return "A list of all files with their sizes is kept with the job."
        if row == _ENCRYPTED:
            return (
                "If LUKS stays closed, only its headers are compared. With its passphrase (p) it is opened"
                " read-only, and its contents are checked; the passphrase goes to the trial through a pipe,"
                " and is not stored. For a key in a file: raidtui rescue try ... --key-file FILE."
            )
        return "Reading each member in full shows that no byte has changed. It takes as long as a check."

    def action_move(self, delta: int) -> None:
        """Choose another row."""
        self._at = max(0, min(len(self._rows) - 1, self._at + delta))
        self.draw()

    def action_change(self, delta: int) -> None:
        """Change the value of the chosen row."""
        row, wish = self._rows[self._at], self._wish
        if row == _FILES:
            kinds = tuple(_LOOKS)
            files, hold = kinds[(kinds.index((wish.hold or wish.files, wish.hold)) + delta) % len(kinds)]
            self._wish = replace(wish, files=files, hold=hold)
        elif row == _VERIFY:
            self._wish = replace(wish, verify=not wish.verify)
        elif row == _ENCRYPTED:
            self._wish = replace(wish, passphrase="")
        else:
            fits = [folder for folder, free in self._rooms if free >= wish.room_bytes]
            if fits:
                at = fits.index(wish.store) if wish.store in fits else 0
                self._wish = replace(wish, store=fits[(at + delta) % len(fits)])
        self.draw()

    def action_folder(self) -> None:
        """Close, to type a folder for the stores."""
        if _STORE in self._rows:
            self.wants_folder = True
            self.dismiss(self._wish)

    def action_passphrase(self) -> None:
        """Close, to type a passphrase."""
        self.wants_passphrase = True
        self.dismiss(self._wish)

    def action_start(self) -> None:
        """Start the trial."""
        if self._can_start:
            self.dismiss(self._wish)


class ProofScreen(PageScreen[str]):
    """Gives ``plan``, ``again``, ``down``, ``save`` or None.

    Args:
        trial: the trial, at its end.
        real: the plan of what it has rehearsed, or why there is none.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "plan", show=False),
        Binding("t", "again", show=False),
        Binding("x", "down", show=False),
        Binding("e", "save", show=False),
    ]

    def __init__(self, trial: KnownTrial, real: Plan | Refusal) -> None:
        super().__init__("")
        self._trial = trial
        self._real = real

    def on_mount(self) -> None:
        """Draw."""
        self.draw()
        self._body.focus()

    def draw(self) -> None:
        """Draw everything."""
        label = self._trial.record.request.label
        self.show_head(visible(f"Proof: {label}"), visible(f"trial {self._trial.job_id}"))
        width = self.inner_width - 1
        lines = proof_lines(self._trial, self._real, width)
        onward: list[tuple[str, str]] = []
        if isinstance(self._real, Plan):
            onward = [("Enter", "review the real plan")]
            if self.app.size.height >= _TALL:
                steps = review_lines(replace(self._real, grounds=()), width)
                lines += [[], [("What the real step does", "dim")], *steps]
        self.show_body(lines)
        if self._can_save:
            onward += [("e", "save elsewhere")]
        onward += [("x", "take it down")] if self._trial.left else [("t", "try again")]
        scroll = [("↑↓", "scroll")] if len(onward) < 3 or width >= _WIDE else []
        self.show_keys(*onward, *scroll, ("Esc", "back"))

    def action_plan(self) -> None:
        """Go on to the plan, where there is one."""
        if isinstance(self._real, Plan):
            self.dismiss(PLAN)

    @property
    def _can_save(self) -> bool:
        """Whether a plan depends on where the ends of members are saved."""
        return self._trial.saves_ends and (isinstance(self._real, Plan) or self._real.code in _OF_FOLDER)

    def action_save(self) -> None:
        """Close, to type a folder for the ends of the members."""
        if self._can_save:
            self.dismiss(SAVE_TO)

    def action_again(self) -> None:
        """Try once more."""
        if not self._trial.left:
            self.dismiss(TRY_AGAIN)

    def action_down(self) -> None:
        """Take down what is left of the trial."""
        if self._trial.left:
            self.dismiss(TAKE_DOWN)


def proof_lines(trial: KnownTrial, real: Plan | Refusal, width: int) -> list[Line]:
    """Return what a trial has shown, in lines of at most ``width`` cells.

    Args:
        trial: the trial.
        real: the plan of what it has rehearsed, or why there is none.
        width: cells of a line.
    """
    outcome = trial.outcome
    left = _left_lines(trial, width)
    if outcome is None:
        text = "The trial has not ended: it has no result. Nothing was written to the members."
        return [*left, *text_lines(text, width, "warn")]
    words, role = _RESULTS[outcome.proof.check]
    lines: list[Line] = [[(words, role)], []]
    if trial.trouble:
        lines = [*text_lines(f"✖ {trial.trouble}", width, "bad"), [], *lines]
    for doubt in trial.record.request.evidence.doubts:
        lines += [*text_lines(doubt, width, "warn"), []]
    lines += left
    if outcome.void:
        lines += _fact("void", outcome.void, width, "warn")
    else:
        refused = outcome.proof.check is CheckResult.NOT_POSSIBLE
        lines += _fact("why" if refused else "how sure", outcome.proof.sure, width)
        if not refused:
            lines += _fact("contents", outcome.proof.contents or "nothing known", width)
    for each in outcome.findings if len(outcome.findings) > 1 else ():
        text = f"{each.proof.contents or 'nothing known'}, {each.proof.check}: {each.proof.sure}"
        lines += _fact(each.place or "the array", text, width)
    if outcome.said:
        for number, text in enumerate(outcome.said.strip().splitlines()):
            lines += _fact("" if number else "mdadm said", text.removeprefix("mdadm: "), width, "dim")
    if outcome.digests and not (trial.trouble or trial.left):
        names = sorted({name.removesuffix(" whole") for name in outcome.digests})
        what = "all of" if len(outcome.digests) > len(names) else "both ends of"
        text = f"{what} {joined(names)} read as before it (SHA-256)"
        lines += _fact("members", text, width)
    if outcome.store_sectors:
        most = max(outcome.store_sectors.values()) * SECTOR_BYTES
        lines += _fact("stored", f"{binary_size(most)} at most for each member", width)
    lines.append([])
    if isinstance(real, Refusal):
        lines += text_lines(f"No plan: {real.sentence}", width, "warn")
    else:
        lines += text_lines(
            "Nothing has been written to the members. The same command can now be reviewed for the members"
            " themselves.",
            width,
            "plain",
        )
    return lines


def _left_lines(trial: KnownTrial, width: int) -> list[Line]:
    """Return what is still there of a trial that has ended."""
    if not trial.left:
        return []
    if trial.held:
        text = f"It is mounted read-only in {trial.record.names.place} until it is taken down (x)."
        return [*text_lines(text, width, "accent"), []]
    return [
        *text_lines("Parts of this trial are still in place: press x to take them down.", width, "warn"),
        [],
    ]


def _fact(what: str, text: str, width: int, role: str = "plain") -> list[Line]:
    first, *rest = text_lines(text, max(20, width - _LABEL), role) or [[("", role)]]
    head = fit(visible(what), _LABEL - 1) + " "
    return [[(head, "dim"), *first], *([(" " * _LABEL, "plain"), *each] for each in rest)]
