"""The request and the result of one run."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What is done to the program, and which text counts as its content."""

    columns: int = 120
    lines: int = 40
    speed: int | None = None
    """The terminal's speed, a constant of termios: that of a serial console."""
    expect: str = ""
    """A regular expression; the screen that shows it first has the content."""
    min_cells: int = 20
    """Cells with ink that make a first picture."""
    answer_key: str = ""
    """Sent from the first moments on; answered when what `expect` found has gone from the screen for good."""
    keys: tuple[str, ...] = ()
    quit_key: str = "q"
    watch_s: float = 0.0
    watch_from_s: float = 3.0
    within_minute: bool = False
    """Keep the watch off the turn of a minute, when a clock that shows minutes is due to move."""
    quiet_s: float = 0.15
    start_limit_s: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One run.  None means "not requested" or "did not happen"; `ran` is False if that failed."""

    ran: bool = True
    why_not: str = ""
    first_byte_ms: float | None = None
    first_paint_ms: float | None = None
    expect_ms: float | None = None
    settled_ms: float | None = None
    answered_ms: float | None = None
    cpu_start_s: float | None = None
    start_bytes: int | None = None
    idle_cpu_pct: float | None = None
    idle_bytes_s: float | None = None
    idle_wakeups_s: float | None = None
    screen_moved: bool | None = None
    rss_mib: float | None = None
    pss_mib: float | None = None
    key_change_ms: float | None = None
    key_bytes: int | None = None
    dearest_key_bytes: int | None = None
    keys_answered: int | None = None
    quit_ms: float | None = None
    exit_code: int | None = None
    termios_restored: bool | None = None
    modes_left: tuple[str, ...] = ()
    flash: int | None = None
    """Moments when a screen that had shown something was wholly blank again, before the quit key."""
    host_busy_pct: float | None = None
    screen: str = field(default="", repr=False)

    @property
    def restored(self) -> bool:
        """Whether the terminal was left as it was found."""
        return self.termios_restored is True and not self.modes_left
