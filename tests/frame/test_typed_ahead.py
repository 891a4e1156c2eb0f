"""Keys that come in a burst, as a slow line brings them: each is done before the next one."""

from __future__ import annotations

from textual import events

from raidtui.features.bench.forms.form_draft import BenchDraft
from raidtui.features.bench.offer import Offer
from raidtui.features.bench.request import Request
from raidtui.features.bench.screen.form_page import BenchForm
from raidtui.features.create.screen.wizard_screen import WizardScreen
from raidtui.model.plan import Refusal, RefusalCode
from tests.features.bench.forms.choices import KNOWN
from tests.frame.machines import plain_host
from tests.frame.staging import Paces, running, until
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10


def burst(pilot: Paces, *keys: str) -> None:
    """Send keys without waiting for what they do."""
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))


async def refuse(request: Request) -> Offer | Refusal:
    del request
    return Refusal(code=RefusalCode.INVALID, why="nothing is measured here")


async def test_what_is_typed_behind_an_arrow_comes_into_the_next_field() -> None:
    async with running(Kernel(raid10())) as pilot:
        form = BenchForm(BenchDraft(what="own"), refuse, KNOWN)
        await pilot.app.push_screen(form)
        await pilot.pause()
        await pilot.press("down", "down")
        burst(pilot, "8", "k", "down", "4", "g", "down", "7")
        await until(pilot, lambda: form.draft.depth == "7")
        assert (form.draft.block, form.draft.size) == ("8k", "4g")


async def test_what_is_typed_behind_enter_comes_into_the_next_step() -> None:
    async with running(Kernel(raid10())) as pilot:
        screen = WizardScreen(plain_host())
        await pilot.app.push_screen(screen)
        await pilot.pause()
        burst(pilot, "space", "down", "space", *["enter"] * 6, *"data", "enter")
        await until(pilot, lambda: screen.draft.name == "data")


async def test_what_is_typed_while_the_app_ends_is_for_nobody() -> None:
    """Its screens are gone before it is: a key behind q must not end in an error."""
    async with running(Kernel(raid10())) as pilot:
        app = pilot.app
    assert app.screen_stack == []
    for event in (events.Key("down", None), events.Key("4", "4"), events.Paste("4")):
        await app.on_event(event)
