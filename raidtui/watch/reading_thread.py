"""A long reading in a thread of its own, which a page follows: its end, its result, or why there is none."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

Result = TypeVar("Result")


class ReadingEndedError(Exception):
    """It has ended without a result; the message says why, where that was not asked for."""


class ReadingThread(ABC, Generic[Result]):
    """One reading; it writes nothing.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self.result: Result | None = None
        self.error = ""
        """Why it has ended without a result."""
        self.ends = threading.Event()
        """Set when it is to read no further."""
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start reading."""
        self._thread.start()

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.result is not None or bool(self.error)

    @property
    @abstractmethod
    def progress(self) -> object:
        """How far it is; another value when there is something new to show."""

    def cancel(self) -> None:
        """End it; it reads no further."""
        self.ends.set()

    def _run(self) -> None:
        try:
            self.result = self.read()
        except OSError as error:
            self.error = f"{error.filename or 'a device'} cannot be read: {error.strerror}"
        except ReadingEndedError as error:
            self.error = str(error) or "it was ended"

    @abstractmethod
    def read(self) -> Result:
        """Read, in the thread; return the result.

        Raises:
            OSError: a device cannot be read.
            ReadingEndedError: it was ended, and has no result.
        """
