"""A disk that fails is copied first: where to, review, job."""

from __future__ import annotations

from collections.abc import Callable

from raidtui.features.rescue import session_copies as copies
from raidtui.features.rescue.copying.copy_plan import plan_copy
from raidtui.frame.choose import Ask, Choice, Option
from raidtui.frame.plan_flow import Judge, Offered, PlanFlow, offered_devices
from raidtui.frame.surveying import Surveying
from raidtui.jobs.lock import JobError
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey

_FILE = "/"
"""Stands for an image file: no device is called so."""
_NO_DEVICE = ""


class CopyFlow(PlanFlow):
    """From a disk that fails to its copy."""

    async def copy(self, found: Surveying, names: tuple[str, ...]) -> bool:
        """Ask for the target, review, and start the copy; return False where it was left.

        Args:
            found: the reading of the host.
            names: kernel names of the disks that fail.
        """
        source: str | None = names[0]
        if len(names) > 1:
            options = tuple(Option(key=name, words=name) for name in names)
            source = await self._shell.ask(Choice("Copy which disk first?", options))
        if not source:
            return False
        target = await self.row(found, f"Copy {source} to what?", self._targets(source))
        if target is None:
            return False
        path = ""
        if target == _FILE:
            hint = "The image file, with its whole path. Its folder has to have room for all of the disk."
            path = await self._shell.ask(Ask(f"Copy {source} to which file?", hint, most=200)) or ""
            if not path.startswith("/"):
                self._shell.say("nothing was changed: a file is given by its whole path", "plain")
                return False
        named = (source,) if path else (source, target)
        survey = await found.fresh(f"Copy {source}", named)
        if survey is None:
            return False
        made = self._plan(survey, source, _NO_DEVICE if path else target, path)
        if isinstance(made, Refusal):
            self._shell.say(made.sentence)
            return True
        return await self.offer(made, survey.devices)

    def _plan(self, survey: Survey, source: str, target: str, path: str = "") -> Plan | Refusal:
        return plan_copy(survey, copies.copy_request(self._shell.session.root, source, target, path))

    def _targets(self, source: str) -> Judge:
        """Return what makes the rows: an image file, then the devices."""

        def rows(survey: Survey) -> list[Offered]:
            judge: Callable[[str, tuple[str, ...]], Plan | Refusal] = lambda name, _: self._plan(  # noqa: E731
                survey, source, name
            )
            file = Option(key=_FILE, words="an image file", note="Room for all of the disk is needed.")
            return [Offered(option=file, made=None), *offered_devices(survey, judge)]

        return rows

    async def carry_out(self, plan: Plan) -> None:
        """Start a copy that was confirmed, and follow it."""
        shell, session = self._shell, self._shell.session
        try:
            with shell.writing():
                job_id = await session.loop.on_disk_thread(lambda: copies.start_copy(session.root, plan))
        except JobError as error:
            shell.say(str(error), "bad")
            return
        await self.follow(job_id, plan.title)
