"""The dialogs of pane 4: a typed value, what to keep or forget, a profile, a plan to confirm."""

from __future__ import annotations

from raidtui.features.tune.screen.tune_detail import ONCE, range_words, title_of
from raidtui.features.tune.screen.tune_rows import KnobRow
from raidtui.features.tune.session import TuneSession
from raidtui.frame.choose import Ask, Choice, Option
from raidtui.frame.plan_flow import PlanFlow
from raidtui.frame.plan_view import SAVE, PlanView
from raidtui.frame.screen_shell import ScreenShell
from raidtui.model.knob import Tuning
from raidtui.model.knob_table import KNOBS
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.plans.tune.keep import KeepItem, items_for_now, kept_items, plan_forget, plan_keep
from raidtui.plans.tune.profiles import Profile, plan_profile
from raidtui.view.units import counted


class TuneFlow(PlanFlow):
    """Leads through the dialogs.

    Args:
        shell: the front end.
        knobs: those of the host in view.
        snapshot: the present state.
        tuning: the present values.
    """

    def __init__(self, shell: ScreenShell, knobs: TuneSession, snapshot: Snapshot, tuning: Tuning) -> None:
        super().__init__(shell)
        self._knobs = knobs
        self._snapshot = snapshot
        self._tuning = tuning

    async def exact(self, row: KnobRow, knob: str) -> str | None:
        """Return the value that is typed or chosen; None where the dialog is left."""
        value = row.of(knob)[0].values[knob]
        title = f"A value for {title_of(row, knob)}"
        if value.choices:
            unit = f" {KNOBS[knob].unit}" if KNOBS[knob].unit else ""
            notes = ONCE if knob == "scheduler" else {}
            options = tuple(
                Option(key=word, words=f"{word}{unit}", note=notes.get(word, "")) for word in value.choices
            )
            return await self._shell.ask(Choice(title, options))
        return await self._shell.ask(Ask(title, f"Now {value.text}; possible: {range_words(knob, value)}."))

    async def confirm(self, plan: Plan, title: str = "") -> bool:
        """Show a plan that is carried out at once; return whether it is confirmed."""
        answer = await self._shell.ask(PlanView(plan, title=title))
        if answer == SAVE:
            await self.save(plan)
            return False
        if answer is None:
            self._shell.say("nothing was changed", "plain")
        return answer is not None

    async def keep(self, row: KnobRow, knob: str) -> None:
        """Keep the chosen value, that of all members of its array, or all values that were set for now."""
        own = tuple(KeepItem(subject=each.name, knob=knob) for each in row.of(knob) if knob in each.values)
        for_now = items_for_now(self._tuning)
        found = {own: f"{title_of(row, knob)}"} if own else {}
        if fellows := self._fellows(row, knob):
            array = self._tuning.array(row.subject.arrays[0])
            found[fellows] = f"{knob} of all members of {array.title if array is not None else 'the array'}"
        if for_now and set(for_now) not in [set(items) for items in found]:
            found[for_now] = f"everything set for now: {counted(len(for_now), 'value')}"
        items = await self._one_of("What to keep over reboots?", found)
        if items is not None:
            await self.end(plan_keep(self._snapshot, self._tuning, items), {})

    def _fellows(self, row: KnobRow, knob: str) -> tuple[KeepItem, ...]:
        """Return the members of a disk's first array, if all of them have the same value."""
        if not row.subject.arrays or knob not in row.subject.values:
            return ()
        members = [each for each in self._tuning.members(row.subject.arrays[0]) if knob in each.values]
        alike = len({each.values[knob].text for each in members}) == 1
        return (
            tuple(KeepItem(subject=each.name, knob=knob) for each in members) if alike and members[1:] else ()
        )

    async def forget(self, row: KnobRow, knob: str) -> None:
        """Stop keeping the chosen value, or everything."""
        kept = kept_items(self._tuning)
        names = {each.name for each in row.of(knob)}
        own = tuple(each for each in kept if each.subject in names and each.knob == knob)
        found = {own: f"{title_of(row, knob)}"} if own else {}
        if self._tuning.texts and (not own or len(kept) > len(own)):
            found[()] = "everything that raidtui keeps, also for disks that are not present"
        if not found:
            self._shell.say("raidtui keeps nothing here")
            return
        items = await self._one_of("What to stop keeping?", found)
        if items is not None:
            await self.end(plan_forget(self._snapshot, self._tuning, items or None), {})

    async def _one_of(
        self, title: str, found: dict[tuple[KeepItem, ...], str]
    ) -> tuple[KeepItem, ...] | None:
        if len(found) < 2:
            return next(iter(found), ())
        choices = list(found)
        options = tuple(Option(key=str(number), words=found[each]) for number, each in enumerate(choices))
        chosen = await self._shell.ask(Choice(title, options))
        return None if chosen is None else choices[int(chosen)]

    async def profile(self) -> Plan | None:
        """Return the plan of the chosen profile once it is confirmed; None where none is."""
        profiles, troubles = await self._knobs.profiles()
        for trouble in troubles:
            self._shell.say(trouble)
        plans = {each.name: plan_profile(self._snapshot, self._tuning, each) for each in profiles}
        options = tuple(_option(each, plans[each.name]) for each in profiles)
        chosen = await self._shell.ask(Choice("Which profile to set?", options))
        plan = plans.get(chosen or "")
        if isinstance(plan, Plan) and await self.confirm(plan):
            return plan
        return None


def _option(profile: Profile, made: Plan | Refusal) -> Option:
    changes = counted(len(made.steps), "write") if isinstance(made, Plan) else "no change"
    where = f" {profile.where}" if profile.where else ""
    return Option(
        key=profile.name,
        words=f"{profile.name:<18} {changes:>9}{where}",
        refusal=made.sentence if isinstance(made, Refusal) else "",
        note=profile.description,
    )
