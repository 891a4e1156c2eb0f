"""How a pacing is said."""

from __future__ import annotations

import time

from raidtui.model.pace import PaceNews
from raidtui.view.units import duration, rate_mb_s

_STALE_S = 10.0


def pace_sentence(news: PaceNews, now_s: float) -> str:
    """Return target, latency, speed given, why, and the end, in one line."""
    return "; ".join((held_words(news, now_s), *given_words(news, now_s)))


def held_words(news: PaceNews, now_s: float) -> str:
    """Return the target and the present latency: ``20 ms wanted, 14 ms now``."""
    wanted = f"{news.target_ms:g} ms wanted"
    if now_s - news.at_s > _STALE_S:
        return f"{wanted}, not heard of for {now_s - news.at_s:.0f} s"
    if news.trouble:
        return f"{wanted}, {news.trouble}"
    return f"{wanted}, {news.latency_ms:.3g} ms at worst now" if news.latency_ms is not None else wanted


def given_words(news: PaceNews, now_s: float, *, ends: bool = True) -> tuple[str, ...]:
    """Return the speed that is given with its reason, and the end.

    Args:
        news: of the pacing.
        now_s: epoch seconds.
        ends: whether it is said when the sync is likely to end; False where that stands beside it already.
    """
    if news.limit_kib_s is None or news.why is None:
        return ("waits for a sync",)
    given = f"up to {rate_mb_s(news.limit_kib_s)}: {news.why.words}"
    left_s = news.left_s if ends else None
    likely = f"ends in about {duration(left_s)}" if left_s is not None else ""
    by = f"by {_clock(now_s, news.by_s)} at the latest" if news.by_s is not None else ""
    return (given, *([", ".join(each for each in (likely, by) if each)] if likely or by else []))


def _clock(now_s: float, then_s: float) -> str:
    form = "%H:%M" if then_s - now_s < 20 * 3600 else "%a %H:%M" if then_s - now_s < 6 * 86400 else "%d %b"
    return time.strftime(form, time.localtime(then_s))
