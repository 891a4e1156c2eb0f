"""``raidtui rescue copy SOURCE TARGET``: copies a disk with GNU ddrescue, to a disk or an image file."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from raidtui.command.device_names import kernel_name
from raidtui.command.following import attach, refused
from raidtui.command.streams import print_refusal
from raidtui.features.rescue.copying.copies import begin_copy
from raidtui.features.rescue.copying.copy_plan import plan_copy
from raidtui.features.rescue.session_copies import copy_request
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.reading import ReadingScope
from raidtui.jobs.lock import JobError
from raidtui.model.plan import Harm, Refusal
from raidtui.monitor.sampler import Sampler
from raidtui.plans.shell_script import plan_sentences
from raidtui.view.text import visible
from raidtui.watch.storage import reading_of

if TYPE_CHECKING:
    from raidtui.features.rescue.copying.copy_plan import CopyRequest

_REFUSED = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue copy`` takes."""
    parser.description = (
        "Copy a disk that gives read errors, with GNU ddrescue: first what can be read at once, then the"
        " rest, sector by sector. The copy is a job; the same command continues one that was cut short."
    )
    parser.add_argument("source", metavar="SOURCE", help="the device; it is only read")
    parser.add_argument(
        "target", metavar="TARGET", help="a device, which is overwritten, or a file: /srv/sda.img"
    )
    parser.add_argument(
        "--map",
        default="",
        metavar="FILE",
        help="ddrescue's map file; default: FILE.map, or one by the serial numbers",
    )
    parser.add_argument(
        "--confirm", default="", metavar="NAME", help="the target's serial number, or its name"
    )
    parser.add_argument("--detach", action="store_true", help="do not wait for the end")


def run(root: HostReader, arguments: argparse.Namespace) -> int:
    """Copy; return 0 done, 1 not, 2 refused, 75 another job is running."""
    if not root.live:
        print("raidtui: not done: a capture cannot be copied", file=sys.stderr)
        return _REFUSED
    request = _request(root, arguments)
    names = (request.source, *((request.target,) if isinstance(request.target, str) else ()))
    scope = ReadingScope(closely=names, everything=True, parts=True)
    survey = reading_of(root, Sampler(root).sample(), scope).start().wait()
    plan = plan_copy(survey, request)
    if isinstance(plan, Refusal):
        return print_refusal(plan, as_json=False)
    print("\n".join(plan_sentences(plan)), flush=True)
    if plan.harm is Harm.DESTROYS and arguments.confirm != plan.confirm:
        confirm = shlex.quote(visible(plan.confirm))
        print(f"raidtui: not done: it destroys data: to confirm, give --confirm={confirm}", file=sys.stderr)
        return _REFUSED
    try:
        job = begin_copy(root, plan)
    except JobError as error:
        return refused(error)
    if arguments.detach:
        print(f"job {job.id}: raidtui jobs attach {job.id}")
        return 0
    return attach(job)


def _request(root: HostReader, arguments: argparse.Namespace) -> CopyRequest:

    source, target = kernel_name(root, arguments.source), kernel_name(root, arguments.target)
    return copy_request(root, source, target, arguments.target, arguments.map)
