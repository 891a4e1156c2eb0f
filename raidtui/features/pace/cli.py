"""``raidtui pace ARRAY...``: let a resync, recovery, check or reshape yield to the users by itself.

Exit status: 0 done, 1 not done (someone else has set a limit, an array was stopped), 2 refused.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

from raidtui.command.device_names import kernel_name
from raidtui.command.following import refused
from raidtui.command.streams import print_json, print_refusal
from raidtui.features.pace.pace_job import begin_pacing, pace_here, refuse_paced, stop_pacing
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lent_limits import restore_lent
from raidtui.jobs.lock import JobError
from raidtui.jobs.pace_news import paced_now
from raidtui.jobs.undo_record import open_record
from raidtui.model.pace import DayWindow, PaceRequest
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.monitor.sampler import Sampler
from raidtui.plans.pace_plan import paced_array, plan_pace
from raidtui.plans.pace_words import pace_sentence
from raidtui.plans.shell_script import plan_sentences
from raidtui.plans.target import find_array
from raidtui.view.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raidtui.model.pace import PacedArray, PaceNews

DONE, NOT_DONE, REFUSED = 0, 1, 2
_WINDOW = re.compile(r"(\d\d?):(\d\d)-(\d\d?):(\d\d)=full")
_CLOCK = re.compile(r"(\d\d?):(\d\d)")
_MOST_HOURS = 24 * 366


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``pace`` takes."""
    parser.description = (
        "Hold a latency for the users while a resync, recovery, check or reshape runs, and"
        " give md all remaining speed. It moves the array's own speed limits; the previous limits return at"
        " the end, even after a kill. Without --here it becomes a job that outlives the terminal."
    )
    parser.add_argument("arrays", metavar="ARRAY", nargs="*")
    parser.add_argument("--latency", type=float, metavar="MS", help="what 99 of 100 requests may take")
    end = parser.add_mutually_exclusive_group()
    end.add_argument("--by", metavar="TIME", help="deadline, for example 06:00 or 2026-12-24T06:00")
    end.add_argument("--within", type=_hours, metavar="HOURS", help="end within this many hours")
    parser.add_argument(
        "--window", type=_window, action="append", default=[], metavar="HH:MM-HH:MM=full",
        help="full speed at these hours of each day; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--device", action="append", default=[], metavar="DEVICE",
        help="also hold the mean latency of this device, such as a logical volume; may be repeated",
    )  # fmt: skip
    parser.add_argument("--stay", action="store_true", help="wait for the next sync after the end of one")
    parser.add_argument("--here", action="store_true", help="in this process, for a unit of systemd")
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--plan", action="store_true", help="only print what would be done")
    act.add_argument("--status", action="store_true", help="print how arrays are paced now")
    act.add_argument("--stop", action="store_true", help="end the pacing of these arrays, or of all")
    act.add_argument(
        "--restore", action="store_true", help="give back limits whose process has ended; for ExecStopPost"
    )
    parser.add_argument("--json", action="store_true", help="as JSON (docs/pace.md)")


def _hours(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = 0.0
    if not 0 < value <= _MOST_HOURS:
        raise argparse.ArgumentTypeError(f"invalid number of hours {word}; use at most {_MOST_HOURS}")
    return value


def _minute(hour: str, minute: str, word: str) -> int:
    if int(hour) > 24 or int(minute) > 59 or 60 * int(hour) + int(minute) > 24 * 60:
        raise argparse.ArgumentTypeError(f"{word}: not a time of day")
    return (60 * int(hour) + int(minute)) % (24 * 60)


def _window(word: str) -> DayWindow:

    found = _WINDOW.fullmatch(word)
    if found is None:
        raise argparse.ArgumentTypeError(f"{word}: write it as 22:00-06:00=full")
    first, last = _minute(found[1], found[2], word), _minute(found[3], found[4], word)
    return DayWindow(first_minute=first, last_minute=last)


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Pace, or say how arrays are paced; return the exit status, see the module."""
    if arguments.status:
        return _status(reader, as_json=arguments.json)
    if arguments.restore:
        return _restore(reader)
    if arguments.stop:
        return _stop(reader, arguments.arrays)

    request = _request(reader, arguments)
    if isinstance(request, Refusal):
        return print_refusal(request, as_json=arguments.json)
    return _pace(reader, arguments, request)


def _request(reader: HostReader, arguments: argparse.Namespace) -> PaceRequest | Refusal:

    if not arguments.arrays or arguments.latency is None:
        why = "an array and --latency are needed"
        return Refusal(code=RefusalCode.INVALID, why=why, remedy="raidtui pace ARRAY --latency 20")
    snapshot = Sampler(reader).sample()
    arrays: list[PacedArray] = []
    for word in dict.fromkeys(arguments.arrays):
        array = find_array(snapshot, word)
        if isinstance(array, Refusal):
            return array
        arrays.append(paced_array(array))
    by_s = _by(arguments, reader.now_s())
    if isinstance(by_s, Refusal):
        return by_s
    devices = tuple(kernel_name(reader, word) for word in arguments.device)
    for name, word in zip(devices, arguments.device, strict=True):
        if reader.text(f"/sys/class/block/{name}/dev") is None:
            return Refusal(code=RefusalCode.NOT_FOUND, why=f"there is no device {word}")
    return PaceRequest(
        arrays=tuple(dict.fromkeys(arrays)),
        latency_ms=arguments.latency,
        by_s=by_s,
        windows=tuple(arguments.window),
        devices=devices,
        stays=arguments.stay,
    )


def _by(arguments: argparse.Namespace, now_s: float) -> float | Refusal | None:

    if arguments.within is not None:
        return now_s + 3600 * float(arguments.within)
    if arguments.by is None:
        return None
    if clock := _CLOCK.fullmatch(arguments.by):
        at = time.localtime(now_s)
        if int(clock[1]) < 24 and int(clock[2]) < 60:
            for day in (0, 1):  # mktime knows days that daylight saving makes longer or shorter
                date = (at.tm_year, at.tm_mon, at.tm_mday + day)
                when = time.mktime((*date, int(clock[1]), int(clock[2]), 0, 0, 0, -1))
                if when > now_s:
                    return when
    for form in ("%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"):
        try:
            return time.mktime(time.strptime(arguments.by, form))
        except (ValueError, OverflowError):
            continue
    return Refusal(
        code=RefusalCode.INVALID,
        why=f"invalid time {arguments.by!r}",
        remedy="write it as 06:00 or 2026-12-24T06:00",
    )


def _pace(reader: HostReader, arguments: argparse.Namespace, request: PaceRequest) -> int:

    plan = plan_pace(Sampler(reader).sample(), request)
    if not isinstance(plan, Refusal) and not reader.live:
        plan = Refusal(code=RefusalCode.NOT_HERE, why="a simulated or captured host is not paced")
    if isinstance(plan, Refusal):
        return print_refusal(plan, as_json=arguments.json)
    if arguments.plan or not arguments.here:
        print("\n".join(visible(line) for line in plan_sentences(plan)), flush=True)
    if arguments.plan:
        return DONE
    try:
        if arguments.here:
            refuse_paced(reader, request)
            return _here(reader, request)
        job = begin_pacing(reader, plan, request)
    except JobError as error:
        return refused(error)
    if arguments.json:
        print_json({"raidtui_pace": 1, "job": job.id})
    else:
        print(f"job {job.id}: raidtui pace --status shows it, raidtui pace --stop ends it")
    return DONE


def _here(reader: HostReader, request: PaceRequest) -> int:

    ends: list[int] = []

    def end(number: int, frame: object) -> None:
        del frame
        ends.append(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    left = pace_here(reader, request, lambda text: print(visible(text), flush=True), lambda: bool(ends))
    return NOT_DONE if left else DONE


def _status(reader: HostReader, *, as_json: bool) -> int:

    found = paced_now(reader)
    if as_json:
        print_json({"raidtui_pace": 1, "pacing": [pace_dict(each) for each in found]})
        return DONE
    for each in found:
        print(visible(f"{each.array.title}: {pace_sentence(each, reader.now_s())}"))
    if not found:
        print("No array is paced.")
    return DONE


def pace_dict(news: PaceNews) -> dict[str, Any]:
    """Return the form for programs (docs/pace.md)."""
    return {
        "array": news.array.name,
        "uuid": news.array.uuid or None,
        "at": news.at_s,
        "pid": news.pid,
        "job": news.job or None,
        "target_ms": news.target_ms,
        "latency_ms": news.latency_ms,
        "why": news.why,
        "text": news.why.words if news.why is not None else None,
        "limit_kib_s": news.limit_kib_s,
        "floor_kib_s": news.floor_kib_s,
        "full_kib_s": news.full_kib_s,
        "queue": news.queue,
        "speed_kib_s": news.speed_kib_s,
        "left_s": news.left_s,
        "by": news.by_s,
        "trouble": news.trouble or None,
    }


def _stop(reader: HostReader, words: Sequence[str]) -> int:

    known = {
        word: each
        for each in paced_now(reader)
        for word in (each.array.name, f"/dev/{each.array.name}", each.array.title, each.array.uuid)
    }
    if missing := [word for word in words if word not in known]:
        print(visible(f"raidtui: {missing[0]} is not paced"), file=sys.stderr)
        return REFUSED
    chosen = [known[word] for word in words] or list(known.values())
    if not chosen:
        print("No array is paced.")
    status = DONE
    for each in {each.pid: each for each in chosen}.values():
        why = stop_pacing(each)
        print(visible(why or f"process {each.pid} has ended, and gave the limits back"))
        status = NOT_DONE if why else status
    return status


def _restore(reader: HostReader) -> int:

    if not reader.live:
        print("raidtui: a simulated or captured host is never changed", file=sys.stderr)
        return REFUSED
    for each in restore_lent(reader, open_record(reader)):
        print(visible(each.text))
    return DONE
