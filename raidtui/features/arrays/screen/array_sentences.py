"""Sentences about the chosen array: what may fail, its users, bitmap, pace and reshape."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.model.array import Array
from raidtui.model.bad_blocks import only_holders
from raidtui.model.bitmap_words import bitmap_words
from raidtui.model.check_words import check_words, next_check_words
from raidtui.model.geometry import slots_words
from raidtui.model.reshape_words import change_words, progress_words, waits_words
from raidtui.monitor.sync_turn import turn_words
from raidtui.monitor.sync_watch import ended_at
from raidtui.plans.pace_words import given_words, held_words
from raidtui.view.line import Line
from raidtui.view.moments import clock_words, day_words
from raidtui.view.text import fit
from raidtui.view.wrapping import wrap
from raidtui.watch.watch import Report


def wrapped(text: str, width: int, role: str) -> list[Line]:
    """Return a sentence in lines of one role, a cell from the left."""
    return [[(fit(" " + part, width), role)] for part in wrap(text, width - 1)]


def survival_lines(array: Array, width: int) -> list[Line]:
    """Return what happens if a member fails."""
    lines: list[Line] = []
    sentence = array.loss_words if array.active else ""
    if array.parity_unfinished and not array.missing_slots:
        return wrapped(
            "until this resync ends, parity is incomplete: one failure may lose data", width, "warn"
        )
    if sentence and (held := only_holders(array)):
        slots = slots_words([member.slot for member, _ in held if member.slot is not None])
        words = f" slot{'s' if len(held) > 1 else ''} {slots} must not fail: bad blocks elsewhere"
        lines.append([(fit(words, width), "bad")])
        sentence = f"otherwise, {sentence}"
    role = "bad" if (array.losses_left or 0) <= 0 and array.redundant else "plain"
    return [*lines, *(wrapped(sentence, width, role) if sentence else [])]


def use_lines(report: Report, array: Array, width: int) -> Iterator[Line]:
    """Yield what uses the array."""
    disk = report.snapshot.disks.get(array.name)
    uses = [use.words for use in disk.uses if use.kind != "signature"] if disk else []
    if uses:
        yield from wrapped("used: " + " · ".join(uses), width, "plain")


def bitmap_lines(report: Report, array: Array, width: int) -> list[Line]:
    """Return the bitmap's pages, and what a re-add would copy."""
    words = bitmap_words(array)
    return wrapped(words, width, "dim") if words and not report.snapshot.is_trial(array) else []


def check_lines(report: Report, array: Array, width: int) -> list[Line]:
    """Return when an array is checked next, and what is known of its last check, unless that is said."""
    if report.next_check is None or not (array.active and array.redundant) or report.snapshot.is_trial(array):
        return []
    last = report.snapshot.checks.get(array.key)
    words = "last check: not known" if last is None else check_words(last, ended_at(last))
    is_said = last is not None and array.sync is None and not array.missing_slots
    at_s = report.next_check.at_s
    following = next_check_words(report.next_check, "" if at_s is None else day_words(at_s))
    return wrapped(following if is_said else f"{words}; {following}", width, "dim")


def turn_lines(report: Report, array: Array, width: int) -> list[Line]:
    """Return when a delayed sync begins, and how long it takes."""
    turn = report.turns.get(array.key)
    if turn is None:
        return []
    now_s = report.snapshot.taken_s
    begins = f"about {clock_words(now_s, now_s + (turn.begins_in_s or 0))}"
    return wrapped(turn_words(turn, begins), width, "plain")


def pace_lines(report: Report, array: Array, width: int) -> list[Line]:
    """Return how the sync yields to the users: target and latency, the speed given and why, the end."""
    news = report.pacing.get(array.key)
    if news is None:
        return []
    now_s = report.snapshot.taken_s
    over = news.latency_ms is not None and news.latency_ms > news.target_ms
    role = "warn" if over or news.trouble else "accent"
    given = "; ".join(given_words(news, now_s, ends=False))
    return [*wrapped(f"yields: {held_words(news, now_s)}", width, role), *wrapped(given, width, "plain")]


def reshape_lines(array: Array, width: int) -> list[Line]:
    """Return what a reshape changes, how far it is, and what it needs."""
    change = change_words(array)
    lines = wrapped(f"reshape: {change}", width, "plain") if change else []
    for text in progress_words(array):
        lines += wrapped(text, width, "warn" if text == waits_words(array) else "dim")
    return lines
