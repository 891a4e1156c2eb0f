"""The features as the console uses them; the registry is loaded after the first picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from raidtui.watch.session import Session
from raidtui.watch.watch import Report

if TYPE_CHECKING:
    from raidtui.frame.feature import Feature


class KnownFeatures:
    """Those of the registry, as soon as it is loaded."""

    def __init__(self) -> None:
        self._features: tuple[Feature, ...] = ()

    def load(self) -> None:
        """Load the registry."""
        from raidtui.app.registry import FEATURES  # noqa: PLC0415

        self._features = FEATURES

    def follow(self, session: Session, report: Report) -> None:
        """Tell features of a report."""
        for feature in self._features:
            if feature.follow is not None:
                feature.follow(session, report)

    def opening_words(self) -> Iterator[Callable[[], tuple[str, ...]]]:
        """Yield what returns the sentences with which a console opens; each reads files."""
        return (each.opening_words for each in self._features if each.opening_words is not None)
