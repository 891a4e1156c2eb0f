"""``raidtui rescue plan TRIAL``: the plan of what a trial has rehearsed. Nothing is changed."""

from __future__ import annotations

import argparse
import os
import shlex
import time

from raidtui.host.roots.root import Root

_REFUSED = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue plan`` takes."""
    parser.add_argument("trial", metavar="TRIAL", help="its id, or a unique beginning or end of it")
    parser.add_argument(
        "--save-to",
        default="",
        metavar="FOLDER",
        help="save both ends of each member there; default: /var/lib/raidtui/rescue",
    )
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="for raidtui apply")
    forms.add_argument("--sh", action="store_true", help="as a commented shell script")


def run(root: Root, arguments: argparse.Namespace) -> int:
    """Print the plan; return 0, or 2 where it is refused."""
    from raidtui.command.jobs import refused  # noqa: PLC0415
    from raidtui.command.streams import print_refusal, write_bytes  # noqa: PLC0415
    from raidtui.host.reading import ReadingScope  # noqa: PLC0415
    from raidtui.jobs.lock import JobError  # noqa: PLC0415
    from raidtui.jobs.plan_file import save_plan  # noqa: PLC0415
    from raidtui.model.plan import Refusal  # noqa: PLC0415
    from raidtui.monitor.sampler import Sampler  # noqa: PLC0415
    from raidtui.plans.shell_script import plan_sentences, shell_script  # noqa: PLC0415
    from raidtui.rescue.real_plan import plan_real  # noqa: PLC0415
    from raidtui.rescue.saving import saving_room  # noqa: PLC0415
    from raidtui.rescue.trial.trial_record import outcome_of, record_of  # noqa: PLC0415
    from raidtui.rescue.trial.trials import find_trial  # noqa: PLC0415
    from raidtui.session.storage import reading_of  # noqa: PLC0415
    from raidtui.view.text import visible  # noqa: PLC0415

    try:
        job = find_trial(arguments.trial)
        trial = record_of(job)
    except JobError as error:
        return refused(error)
    scope = ReadingScope(closely=trial.request.made.devices, everything=True)
    survey = reading_of(root, Sampler(root).sample(), scope).start().wait()
    room = saving_room(os.path.abspath(arguments.save_to) if arguments.save_to else "")  # noqa: PTH100
    plan = plan_real(survey, trial, outcome_of(job), room, job=job.id)
    if isinstance(plan, Refusal):
        print_refusal(plan, as_json=arguments.json)
        return _REFUSED
    if arguments.json:
        write_bytes(save_plan(plan, host=root.hostname or "", made_s=time.time()))
    elif arguments.sh:
        write_bytes(shell_script(plan).encode("utf-8", "surrogateescape"))
    else:
        print("\n".join(plan_sentences(plan)))
        confirm = f" --confirm={shlex.quote(visible(plan.confirm))}" if plan.confirm else ""
        to = f" --save-to={shlex.quote(visible(arguments.save_to))}" if arguments.save_to else ""
        print(
            f"To do it: raidtui rescue plan {job.id}{to} --json >plan.json; raidtui apply plan.json{confirm}"
        )
    return 0
