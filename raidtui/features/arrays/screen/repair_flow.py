"""Replace, add, fail, remove, rename, stop, make writable: choose a member or a device, then review the plan.

``raidtui.frame.plan_flow`` has what these flows share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from raidtui.frame.choose import Ask
from raidtui.frame.plan_flow import Judge, Made, Offered, PlanFlow, offered_devices, offered_members
from raidtui.frame.surveying import Surveying, surveying
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Device, Survey
from raidtui.plans.leave import plan_fail, plan_remove
from raidtui.plans.re_add import plan_re_add
from raidtui.plans.rename import plan_rename
from raidtui.plans.repair import plan_add, plan_replace, refuse_replacing
from raidtui.plans.stop import plan_read_write, plan_stop
from raidtui.watch import storage


class RepairFlow(PlanFlow):
    """The flows from a verb to a job.

    Args:
        shell: the app.
    """

    async def run(self, verb: str, array: Array, snapshot: Snapshot) -> None:
        """Run the flow of a verb: replace, add, fail, remove, rename, stop."""
        name = ""
        if verb == "rename":
            hint = "A word, or three digits. The array is stopped briefly."
            name = await self._shell.ask(Ask(f"A new name for {array.title}", hint)) or ""
            if not name:
                return
        with surveying(self._shell, snapshot, storage.form_scope(verb, array, snapshot)) as found:
            if verb in _AT_ONCE:
                survey = await found.read(f"{verb.capitalize()} {array.title}")
                made = None if survey is None else _AT_ONCE[verb](survey, self._now(survey, array), name)
                devices: Mapping[str, Device] = {}
            else:
                made, devices = await self._choose_for(verb, found, array)
        await self.end(made, devices, of=f"{array.title}: ")

    def _now(self, survey: Survey, array: Array) -> Array:
        """Return the array as read last; as it was where it is gone: the plan's checks notice that."""
        return survey.snapshot.array(array.key) or array

    async def _choose_for(
        self, verb: str, found: Surveying, array: Array
    ) -> tuple[Made, Mapping[str, Device]]:
        """Ask for the member or device of a verb; return its plan and the devices."""
        old = ""
        if verb == "replace":
            judge = _members(array, refuse_replacing)
            old = await self.row(found, f"Replace which member of {array.title}?", judge) or ""
            if not old:
                return None, {}
        return await self.choose(
            found, *_asked(verb, array, old), names=lambda name: tuple({name, old} - {""})
        )


_AT_ONCE: Mapping[str, Callable[[Survey, Array, str], Plan | Refusal]] = {
    "stop": lambda survey, array, _: plan_stop(survey, array),
    "read-write": lambda survey, array, _: plan_read_write(survey, array),
    "rename": lambda survey, array, name: plan_rename(survey, array, name, references=True),
}
"""Makes the plans of verbs without a choice of device."""


def _asked(verb: str, array: Array, old: str) -> tuple[str, Judge]:
    """Return the title of a verb's choice, and what makes its rows.

    Args:
        verb: fail, remove, add, replace.
        array: the array.
        old: the member that is replaced.
    """
    if verb in {"fail", "remove"}:
        plan = plan_fail if verb == "fail" else plan_remove
        return f"{verb.capitalize()} which member of {array.title}?", _members(array, plan)

    def rows(survey: Survey) -> list[Offered]:
        now = survey.snapshot.array(array.key) or array
        if verb == "add":
            return offered_devices(survey, lambda name, destroys: _added(survey, now, name, destroys))
        spares = [member.name for member in now.members if member.has("spare") and member.slot is None]
        return offered_devices(
            survey, lambda name, destroys: plan_replace(survey, now, old, name, destroys=destroys), spares
        )

    title = f"Add which device to {array.title}?" if verb == "add" else f"Replace {old} with which device?"
    return title, rows


def _added(survey: Survey, array: Array, name: str, destroys: tuple[str, ...]) -> Plan | Refusal:
    """Return the plan to re-add a former member, which copies only what changed; else to add a device."""
    again = plan_re_add(survey, array, name)
    return again if isinstance(again, Plan) else plan_add(survey, array, name, destroys=destroys)


def _members(array: Array, plan: Callable[[Survey, Array, str], Plan | Refusal | None]) -> Judge:
    """Return what makes the rows of the members."""
    return lambda survey: offered_members(survey, array, plan)
