"""The two sliders of a sync's speed limits: those of one array, or of the system."""

from __future__ import annotations

from raidtui.features.arrays.screen.slider import Slider
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.plans.sync_speed import plan_limits
from raidtui.watch.watch import Report


class LimitSliders:
    """Both sliders, and whose limits they show.

    Attributes:
        low, high: the sliders.
        of_system: whether they show the limits of all arrays that have none of their own.
    """

    def __init__(self) -> None:
        self.low, self.high = Slider("min", id="min"), Slider("max", id="max")
        self.of_system = False
        self._shown: tuple[str, bool] | None = None

    @property
    def both(self) -> tuple[Slider, Slider]:
        """The sliders, min first."""
        return self.low, self.high

    def hide(self) -> None:
        """Show none: no array is chosen that has limits."""
        self.low.display = self.high.display = False

    def show(self, report: Report, array: Array) -> None:
        """Show the limits of an array, or the system's; what was asked for of others is forgotten."""
        limit = array.speed_limit
        if (array.key, self.of_system) != self._shown:
            self._shown = (array.key, self.of_system)
            self.forget_asked()
        self.low.display = self.high.display = limit is not None or self.of_system
        locked = not report.snapshot.host.is_root
        if self.of_system:
            limits = report.snapshot.limits
            self.low.show(limits.min_kib_s, "all arrays", locked=locked)
            self.high.show(limits.max_kib_s, "all arrays", locked=locked)
        elif limit is not None:
            self.low.show(limit.min_kib_s, limit.min_scope or "", locked=locked)
            self.high.show(limit.max_kib_s, limit.max_scope or "", locked=locked)

    def forget_asked(self) -> None:
        """Show the kernel's values, since the request was not carried out."""
        for slider in self.both:
            slider.forget_asked()

    def keep_apart(self, moved: Slider) -> str:
        """Stop a slider where the other one is; return a sentence where that was so, else ""."""
        low_kib_s, high_kib_s = self.low.value_kib_s, self.high.value_kib_s
        if low_kib_s is None or high_kib_s is None or low_kib_s <= high_kib_s:
            return ""
        moved.asked_kib_s = high_kib_s if moved is self.low else low_kib_s
        moved.refresh()
        other = "max" if moved is self.low else "min"
        return f"min cannot be above max: move {other} first (in the kernel, min wins)"

    def plan(self, snapshot: Snapshot, chosen: str | None) -> Plan | Refusal | None:
        """Return the plan of what was asked for, or why not; None where nothing was.

        Args:
            snapshot: the host.
            chosen: the key of the array.
        """
        low_kib_s, high_kib_s = self.low.value_kib_s, self.high.value_kib_s
        if low_kib_s is None or high_kib_s is None:
            return None
        if all(slider.asked_kib_s is None for slider in self.both):
            return None
        return plan_limits(snapshot, None if self.of_system else chosen, low_kib_s, high_kib_s)
