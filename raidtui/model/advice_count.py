"""How much advice there is about a host."""

from __future__ import annotations

from msgspec import Struct

from raidtui.model.finding import Severity


class AdviceCount(Struct, frozen=True, kw_only=True):
    """How many pieces of advice were not ignored; what is only worth knowing is not counted.

    Args:
        at_s: when the host was read, epoch seconds.
        attention, degraded, failed: how many of each severity.
    """

    at_s: float
    attention: int = 0
    degraded: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.attention + self.degraded + self.failed

    @property
    def worst(self) -> Severity:
        """The severity of the worst; INFO where there is none."""
        if self.failed:
            return Severity.FAILED
        if self.degraded:
            return Severity.DEGRADED
        return Severity.ATTENTION if self.attention else Severity.INFO
