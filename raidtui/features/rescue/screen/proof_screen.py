"""The third page of the guide: what a trial has shown, how sure that is, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType

from raidtui.features.rescue.screen.guide_lines import text_lines
from raidtui.features.rescue.search.results import CheckResult
from raidtui.features.rescue.session_trials import KnownTrial
from raidtui.frame.pages import PageScreen
from raidtui.frame.plan_view import review_lines
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.view.line import Line
from raidtui.view.text import fit, visible
from raidtui.view.units import SECTOR_BYTES, binary_size, joined

PLAN, TRY_AGAIN, TAKE_DOWN, SAVE_TO = "plan", "again", "down", "save"
_TALL, _WIDE = 36, 90
_RESULTS: Mapping[CheckResult, tuple[str, str]] = {
    CheckResult.CLEAN: ("● clean: the check found nothing wrong", "ok"),
    CheckResult.ERRORS: ("▲ the check found errors", "warn"),
    CheckResult.NO_FILE_SYSTEM: ("▲ nothing stands on it that could be checked", "warn"),
    CheckResult.NOT_POSSIBLE: ("✖ mdadm or the kernel refuses it", "bad"),
    CheckResult.NOT_TRIED: ("? not tried: it says nothing", "warn"),
}
_OF_FOLDER = frozenset({RefusalCode.TOO_SMALL, RefusalCode.NOT_FOUND, RefusalCode.INVALID})
_LABEL = 12


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
        text = "The trial has not come to its end: it says nothing. Nothing was written to the members."
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
            lines += _fact("contents", outcome.proof.contents or "nothing that is known", width)
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
            "Nothing has been written to the members. The same command on them can be reviewed now.",
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
    return [*text_lines("Something of it is left: x takes it down.", width, "warn"), []]


def _fact(what: str, text: str, width: int, role: str = "plain") -> list[Line]:
    first, *rest = text_lines(text, max(20, width - _LABEL), role) or [[("", role)]]
    head = fit(visible(what), _LABEL - 1) + " "
    return [[(head, "dim"), *first], *([(" " * _LABEL, "plain"), *each] for each in rest)]
