"""The third page of the guide: what a trial has shown, how sure that is, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType

from raidtui.model.plan import Plan, Refusal
from raidtui.rescue.proof import CheckResult
from raidtui.session.rescue_trials import KnownTrial
from raidtui.ui.frame.pages import PageScreen
from raidtui.ui.rescue.guide_lines import text_lines
from raidtui.view.line import Line
from raidtui.view.text import fit, visible
from raidtui.view.units import SECTOR_BYTES, binary_size, joined

PLAN, TRY_AGAIN = "plan", "again"
_RESULTS: Mapping[CheckResult, tuple[str, str]] = {
    CheckResult.CLEAN: ("● clean: the check found nothing wrong", "ok"),
    CheckResult.ERRORS: ("▲ the check found errors", "warn"),
    CheckResult.NO_FILE_SYSTEM: ("▲ nothing stands on it that could be checked", "warn"),
    CheckResult.NOT_POSSIBLE: ("✖ mdadm or the kernel refuses it", "bad"),
    CheckResult.NOT_TRIED: ("? not tried: it says nothing", "warn"),
}
_LABEL = 12


class ProofScreen(PageScreen[str]):
    """Gives ``plan``, ``again`` or None.

    Args:
        trial: the trial, at its end.
        real: the plan of what it has rehearsed, or why there is none.
        tie: what the trial cannot decide, a sentence; "" for nothing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "plan", show=False),
        Binding("t", "again", show=False),
    ]

    def __init__(self, trial: KnownTrial, real: Plan | Refusal, tie: str = "") -> None:
        super().__init__("")
        self._trial = trial
        self._real = real
        self._tie = tie

    def on_mount(self) -> None:
        """Draw."""
        self.draw()
        self._body.focus()

    def draw(self) -> None:
        """Draw everything."""
        label = self._trial.record.request.label
        self.show_head(visible(f"Proof: {label}"), visible(f"trial {self._trial.job_id}"))
        width = self.inner_width - 1
        tie = [*text_lines(self._tie, width, "warn"), []] if self._tie else []
        self.show_body([*tie, *proof_lines(self._trial, self._real, width)])
        onward = [("Enter", "review the real plan")] if isinstance(self._real, Plan) else []
        self.show_keys(*onward, ("t", "try again"), ("↑↓", "scroll"), ("Esc", "back"))

    def action_plan(self) -> None:
        """Go on to the plan, where there is one."""
        if isinstance(self._real, Plan):
            self.dismiss(PLAN)

    def action_again(self) -> None:
        """Try once more."""
        self.dismiss(TRY_AGAIN)


def proof_lines(trial: KnownTrial, real: Plan | Refusal, width: int) -> list[Line]:
    """Return what a trial has shown, in lines of at most ``width`` cells.

    Args:
        trial: the trial.
        real: the plan of what it has rehearsed, or why there is none.
        width: cells of a line.
    """
    outcome = trial.outcome
    if outcome is None:
        return text_lines("The trial has not come to its end: it says nothing.", width, "warn")
    words, role = _RESULTS[outcome.proof.check]
    lines: list[Line] = [[(words, role)], []]
    if outcome.void:
        lines += _fact("void", outcome.void, width, "warn")
    lines += _fact("how sure", outcome.proof.sure, width)
    lines += _fact("contents", outcome.proof.contents or "nothing that is known", width)
    for each in outcome.findings if len(outcome.findings) > 1 else ():
        text = f"{each.proof.contents or 'nothing known'}, {each.proof.check}: {each.proof.sure}"
        lines += _fact(each.place or "the array", text, width)
    if outcome.said:
        for number, text in enumerate(outcome.said.strip().splitlines()):
            lines += _fact("" if number else "mdadm said", text.removeprefix("mdadm: "), width, "dim")
    if outcome.digests:
        names = joined(sorted(outcome.digests))
        lines += _fact("members", f"{names}: the same before and after (SHA-256)", width)
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


def _fact(what: str, text: str, width: int, role: str = "plain") -> list[Line]:
    first, *rest = text_lines(text, max(20, width - _LABEL), role) or [[("", role)]]
    head = fit(visible(what), _LABEL - 1) + " "
    return [[(head, "dim"), *first], *([(" " * _LABEL, "plain"), *each] for each in rest)]
