"""The forms of benchmarks by keys: to an offer, or back without losing anything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual import events

from raidtui.features.bench.forms.form_draft import BenchDraft, FormKind
from raidtui.features.bench.forms.known import HostChoices
from raidtui.features.bench.offer import Offer
from raidtui.features.bench.option_texts import FieldRefusal
from raidtui.features.bench.request import Request
from raidtui.features.bench.schedule import Conditions
from raidtui.features.bench.screen.form_page import BenchForm
from raidtui.features.bench.screen.review_page import BenchReview
from raidtui.frame.choose import Choice
from raidtui.frame.pages import WhyScreen
from raidtui.model.plan import Refusal, RefusalCode
from tests.features.bench.forms.choices import ARRAYS, KNOWN, TYPED, Asked
from tests.frame.staging import Paces, running, screen_text, until
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10


class Opened:
    """A form that is open, and what it gives."""

    def __init__(self, pilot: Paces, form: BenchForm) -> None:
        self.pilot = pilot
        self.form = form
        self.results: list[Offer | None] = []

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        await self.press(*({" ": "space", "?": "question_mark"}.get(char, char) for char in text))

    async def go_to(self, name: str) -> None:
        """Move to a field."""
        rows = [row.field.name for row in self.form._rows]
        await self.press(*["home" if not self.form._field.typed else "pageup"] * 4)
        await self.press(*["down"] * rows.index(name))
        assert self.form._field.name == name

    async def review(self) -> BenchReview:
        """Go on to the review."""
        await self.press("enter")
        await until(self.pilot, lambda: isinstance(self.pilot.app.screen, BenchReview), "the review")
        await self.pilot.pause()
        screen = self.pilot.app.screen
        assert isinstance(screen, BenchReview)
        return screen

    @property
    def text(self) -> str:
        return screen_text(self.pilot)

    async def given(self) -> Offer:
        """Wait for what the form gives."""
        await until(self.pilot, lambda: self.results, "the form gives something")
        (offer,) = self.results
        assert offer is not None
        return offer


@asynccontextmanager
async def opened(
    kind: FormKind, draft: BenchDraft, ask: Callable[[Request], object], known: HostChoices = KNOWN
) -> AsyncIterator[Opened]:
    """Open a form."""
    async with running(Kernel(raid10())) as pilot:
        form = BenchForm(replace(draft, kind=kind), ask, known)  # type: ignore[arg-type]
        found = Opened(pilot, form)
        pilot.app.push_screen(form, found.results.append)
        await pilot.pause()
        yield found


async def test_from_a_preset_to_an_offer(ask: Asked) -> None:
    async with opened(FormKind.RUN, BenchDraft(), ask) as there:
        await there.press("down", "right", "down")
        await there.type("16k")
        await there.review()
        await there.press("enter")  # alone it begins nothing
        assert there.results == []
        await there.press("y")
        offer = await there.given()
    assert ask.requests == [Request(preset="random-write", blocks=(16384,), directory="/srv/data")]
    assert (offer.schedule.title, offer.schedule.place.directory) == ("random-write", "/srv/data")


async def test_from_an_own_workload_to_an_offer(ask: Asked) -> None:
    async with opened(FormKind.RUN, BenchDraft(), ask) as there:
        await there.press("left", "down", "l", "l", "l")  # write, randread, randwrite ... of read and so on
        await there.go_to("size")
        await there.type("1g")
        await there.go_to("runtime")
        await there.type("30")
        await there.go_to("note")
        await there.type("hjkl? no")
        assert there.form.draft.note == "hjkl? no"
        await there.review()
        await there.press("y")
        await there.given()
    assert ask.requests == [
        Request(
            rw="randrw",
            size_bytes=1 << 30,
            runtime_s=30,
            directory="/srv/data",
            note="hjkl? no",
        )
    ]


async def test_from_a_job_file_to_an_offer(ask: Asked, tmp_path: Path) -> None:
    file = tmp_path / "own.fio"
    file.write_text("[a]\nrw=randread\nsize=1m\nexec_prerun=true\n")
    async with opened(FormKind.RUN, BenchDraft(), ask) as there:
        await there.press("right", "down")
        there.pilot.app.screen.post_message(events.Paste(f"{file}\nmore"))
        await there.pilot.pause()
        await there.press("enter")
        await until(there.pilot, lambda: "runs a shell command" in there.text)
        assert "own.fio, line 4, [a]: exec_prerun runs a shell command; leave it out" in there.text
        assert (there.form._field.name, there.form.draft.job) == ("job", str(file))
        file.write_text("[a]\nrw=randread\nsize=1m\n")
        await there.review()
        await there.press("y")
        offer = await there.given()
    assert offer.schedule.title == "job file own.fio"


async def test_from_a_sweep_to_an_offer(ask: Asked) -> None:
    async with opened(FormKind.SWEEP, BenchDraft(), ask) as there:
        await there.go_to("knob")
        await there.press("right")
        await there.go_to("values scheduler")
        await there.press("down", "down", "space", "down", "space")
        assert there.form.draft.values["values scheduler"] == "mq-deadline,none"
        await there.go_to("second")
        await there.press("right", "right", "right", "down", "ctrl+u")
        await there.type("1,32")
        await there.go_to("trim")
        await there.press("right")
        await there.go_to("cool")
        await there.type("5")
        await there.review()
        await there.press("y")
        offer = await there.given()
    assert ask.requests == [
        Request(
            preset="mixed",
            directory="/srv/data",
            knobs=(("scheduler", ("mq-deadline", "none")),),
            depths=(1, 32),
            conditions=Conditions(trim=True, cool_s=5),
            repeats=6,
        )
    ]
    assert len(offer.schedule.runs()) == 24


async def test_from_two_settings_to_an_offer(ask: Asked) -> None:
    async with opened(FormKind.AB, BenchDraft(), ask) as there:
        await there.go_to("B queue_depth")
        await there.press("backspace", "backspace", "8")
        await there.review()
        await there.press("y")
        offer = await there.given()
    assert ask.requests[0].knobs == (("queue_depth", ("1", "8")),)
    runs = offer.schedule.runs()
    for block in range(3):
        assert sorted(run.point["queue_depth"] for run in runs if run.block == block) == ["1", "1", "8", "8"]


DISK = BenchDraft(where="device", device="sde", write="yes", preset="stream-write")


async def test_what_is_lost_wants_every_serial_number(ask: Asked) -> None:
    async with opened(FormKind.SWEEP, replace(ARRAYS, scratch="sdf,sde"), ask) as there:
        review = await there.review()
        await there.press("y", "enter")
        assert "That is not sdf." in there.text
        await there.press("backspace", "enter")
        assert (review.confirmed, there.results) == ((), [])
        await there.type(TYPED[0])  # that of the other one
        await there.press("enter")
        assert (review.confirmed, there.results) == ((), [])
        await there.press(*["backspace"] * 40)
        await there.type(TYPED[1])
        await there.press("enter")
        assert (review.confirmed, there.results) == ((TYPED[1],), [])
        assert "What is on sde will be lost. There is no undo." in there.text
        there.pilot.app.screen.post_message(events.Paste(f" {TYPED[0]}\n"))
        await there.press("enter")
        offer = await there.given()
    assert ask.requests[0].confirmed == (TYPED[1], TYPED[0])
    assert offer.schedule.scratch is not None
    assert offer.schedule.scratch.devices == ("sdf", "sde")


async def test_what_was_typed_stays_on_going_back(ask: Asked) -> None:
    async with opened(FormKind.SWEEP, replace(ARRAYS, scratch="sde,sdg"), ask) as there:
        review = await there.review()
        await there.type(TYPED[0])
        await there.press("enter")
        assert review.confirmed == (TYPED[0],)
        await there.press("escape")
        await until(there.pilot, lambda: there.pilot.app.screen is there.form)
        assert there.form.draft.scratch == "sde,sdg"
        again = await there.review()
        assert again.confirmed == (TYPED[0],)
        await there.press("escape", "escape")
        await until(there.pilot, lambda: there.results)
        assert there.results == [None]
        assert there.form.draft.scratch == "sde,sdg"


async def test_another_loss_is_typed_for_anew(ask: Asked) -> None:
    """In between somebody has made a file system."""
    async with opened(FormKind.RUN, DISK, ask) as there:
        review = await there.review()
        await there.type(TYPED[0])
        review.confirmed = (TYPED[0],)
        await there.press("escape")
        ask.host.put("/run/udev/data/b8:4", f"E:ID_SERIAL_SHORT={TYPED[0]}\nE:ID_FS_TYPE=xfs\n")
        again = await there.review()
        assert again.confirmed == ()
        assert "the xfs file system" in there.text


async def test_another_disk_than_when_the_form_was_opened(ask: Asked) -> None:
    async with opened(FormKind.RUN, DISK, ask) as there:
        ask.host.put("/run/udev/data/b8:4", "E:ID_SERIAL_SHORT=ANOTHER\n")
        await there.press("enter")
        await until(there.pilot, lambda: "it destroys what is on the devices" in there.text)
        assert "leave it and open it again" in there.text
        assert there.results == []


@pytest.mark.parametrize(
    ("refusal", "sentence", "field"),
    [
        (
            Refusal(
                code=RefusalCode.NO_TOOL,
                why="fio is not installed",
                remedy="apt install fio, or your distribution's fio",
            ),
            "fio is not installed; apt install fio, or your distribution's fio",
            "cool",
        ),
        (
            FieldRefusal(
                code=RefusalCode.WRONG_STATE,
                part="directory",
                why="the file system at /srv is read-only",
                remedy="choose another folder",
            ),
            "the file system at /srv is read-only; choose another folder",
            "folder",
        ),
        (
            FieldRefusal(
                code=RefusalCode.UNSUPPORTED,
                part="write",
                why="/dev/sde is only read",
                remedy="give --write, and --confirm",
                form_remedy="choose yes at overwrite it",
            ),
            "/dev/sde is only read; choose yes at overwrite it",
            "cool",
        ),
    ],
)
async def test_a_refusal_is_said_where_it_belongs(refusal: Refusal, sentence: str, field: str) -> None:
    async def ask(_: Request) -> Refusal:
        return refusal

    async with opened(FormKind.RUN, BenchDraft(), ask) as there:
        await there.go_to("cool")
        await there.type("12")
        await there.press("enter")
        await until(there.pilot, lambda: sentence in there.text, sentence)
        assert (there.form._field.name, there.form.draft.cool) == (field, "12")
        await there.press("down")
        assert sentence not in there.text


async def test_one_does_not_go_on_with_what_is_wrong(ask: Asked) -> None:
    async with opened(FormKind.RUN, BenchDraft(what="own"), ask) as there:
        assert "▲" not in there.text
        await there.press("enter")
        assert there.form._field.name == "size"
        assert "no size is given; give one: 500m, 4g" in there.text
        await there.type("4x")
        assert "4x is not a size; give it as 4k, 500m or 2g" in there.text
        await there.press("enter")
        assert ask.requests == []
        await there.press("backspace")
        await there.type("k")
        assert "▲" not in there.text


async def test_esc_while_the_host_is_asked() -> None:
    answered = asyncio.Event()

    async def ask(_: Request) -> Refusal:
        await answered.wait()
        return Refusal(code=RefusalCode.INVALID, why="too late")

    async with opened(FormKind.RUN, BenchDraft(), ask) as there:
        await there.press("enter")
        await until(there.pilot, lambda: "reading the host" in there.text)
        await there.press("down", "right", "enter", "x")
        assert there.form.draft == BenchForm(BenchDraft(), ask, KNOWN).draft
        await there.press("escape")
        assert "reading the host" not in there.text
        answered.set()
        await there.press("down")
        assert "oo late" not in there.text
        assert there.results == []
        await there.press("escape")
        assert there.results == [None]


async def test_editing_a_text(ask: Asked) -> None:
    async with opened(FormKind.RUN, BenchDraft(), ask) as there:
        await there.go_to("note")
        await there.type("abc")
        await there.press("left", "left", "x", "delete", "home", "0", "end", "z", "backspace", "y")
        assert there.form.draft.note == "0axcy"
        await there.press("left", "ctrl+u")
        assert there.form.draft.note == "y"
        await there.press("up", "down")
        await there.type("!")
        assert there.form.draft.note == "y!"
        there.pilot.app.screen.post_message(events.Paste("\x1b[31m red\n"))
        await there.pilot.pause()
        assert there.form.draft.note == "y![31m red"


async def test_the_first_letter_takes_the_place_of_what_is_usual(ask: Asked) -> None:
    async with opened(FormKind.SWEEP, BenchDraft(knob="queue_depth"), ask) as there:
        await there.go_to("values queue_depth")
        assert there.form.draft.values["values queue_depth"] == "1,2,4,8,16,32"
        await there.type("4")
        await there.type(",8")
        assert there.form.draft.values["values queue_depth"] == "4,8"
    async with opened(
        FormKind.SWEEP, BenchDraft(knob="queue_depth", values={"values queue_depth": "3,5"}), ask
    ) as there:
        await there.go_to("values queue_depth")
        await there.type(",7")
        assert there.form.draft.values["values queue_depth"] == "3,5,7"
        await there.press("up", "down")
        await there.press("left", "backspace")
        assert there.form.draft.values["values queue_depth"] == "3,57"


async def test_a_list_and_what_a_field_means(ask: Asked) -> None:
    async with opened(FormKind.RUN, BenchDraft(), ask) as there:
        await there.press("down", "space")
        assert isinstance(there.pilot.app.screen, Choice)
        await there.press("down", "down", "enter")
        await until(there.pilot, lambda: there.pilot.app.screen is there.form)
        assert there.form.draft.preset == "stream-read"
        await there.press("question_mark")
        assert isinstance(there.pilot.app.screen, WhyScreen)
        assert "A study of chunk sizes" in there.text or "a study of chunk sizes" in there.text
        await there.press("escape", "j", "question_mark")
        assert isinstance(there.pilot.app.screen, WhyScreen)
        await there.press("escape")
        await there.go_to("note")
        await there.press("question_mark", "f1")
        assert isinstance(there.pilot.app.screen, WhyScreen)
        assert there.form.draft.note == "?"


async def test_another_size(ask: Asked) -> None:
    async with opened(FormKind.SWEEP, ARRAYS, ask) as there:
        assert "↓ 10 more" in there.text
        await there.pilot.resize_terminal(120, 40)
        await until(there.pilot, lambda: "  note   " in there.text)
        assert "more" not in there.text
