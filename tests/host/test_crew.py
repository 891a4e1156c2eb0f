"""Small readings by several threads: one that hangs holds up none of the others."""

from __future__ import annotations

import threading

import pytest

from raidtui.host.edges import LOOKED_AT_BYTES, may_have_superblock
from raidtui.host.reading import Reading, ReadingScope, read_survey
from raidtui.host.thread_pool import ThreadPool
from raidtui.host.tools import ToolOutput
from raidtui.model.answer import AnswerKind
from raidtui.model.survey import Survey
from tests.host.test_examine import EMPTY
from tests.hosts.trees import Stage, host_tree

ZEROS = bytes(LOOKED_AT_BYTES)
MAGIC = (0xA92B4EFC).to_bytes(4, "little")
ENDS_S = 60


def test_work_that_hangs_holds_up_none() -> None:
    """It takes a thread; there is another one for the rest, and its answer counts when it comes."""
    answers, done = threading.Event(), set[int]()

    def hang() -> None:
        assert answers.wait(ENDS_S)
        done.add(0)

    crew = ThreadPool(at_once=1, limit_s=0.0)
    crew.put("hangs", hang)
    for number in range(1, 20):
        crew.put(number, lambda number=number: done.add(number))  # type: ignore[misc]
    crew.wait(lambda: done == set(range(1, 20)))
    assert crew.late == {"hangs"}
    assert crew.open == frozenset()
    answers.set()
    crew.wait(lambda: 0 in done and not crew.late)


def test_what_is_cancelled_is_not_begun() -> None:
    answers, begun, done = threading.Event(), threading.Event(), list[int]()

    def hang() -> None:
        begun.set()
        assert answers.wait(ENDS_S)

    crew = ThreadPool(at_once=1)
    crew.put("first", hang)
    crew.put("second", lambda: done.append(2))
    assert begun.wait(ENDS_S)
    crew.cancel()
    crew.put("third", lambda: done.append(3))
    answers.set()
    crew.wait(lambda: not crew.open)
    assert done == []


def test_a_defect_is_raised_where_it_is_waited_for() -> None:
    crew = ThreadPool()
    crew.put("broken", lambda: {}[0])  # type: ignore[index]
    with pytest.raises(KeyError):
        crew.wait(lambda: not crew.open)


@pytest.mark.parametrize(
    ("first", "last", "asked"),
    [
        (ZEROS, ZEROS, False),
        (ZEROS[:4096] + MAGIC, ZEROS, True),
        (MAGIC, ZEROS, True),
        (ZEROS, ZEROS[: -(128 << 10)] + MAGIC[::-1] + ZEROS[: (128 << 10) - 4], True),
        (ZEROS, ZEROS[:-512] + b"\xde\x11\xde\x11" + ZEROS[:508], True),
        (ZEROS, ZEROS[:-1024] + b"Intel Raid ISM Cfg Sig. " + ZEROS[:1000], True),
        (b"", b"", False),
    ],
    ids=["empty", "1.2", "1.1", "0.90 of the other endianness", "ddf", "imsm", "no byte"],
)
def test_where_mdadm_is_asked(first: bytes, last: bytes, asked: bool) -> None:  # noqa: FBT001
    assert may_have_superblock((first, last)) is asked


def test_what_cannot_be_read_is_asked_of_mdadm() -> None:
    assert may_have_superblock(None)


class Silent(Stage):
    """A host whose mdadm does not answer for one device."""

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        if argv[:2] == ("mdadm", "--examine") and argv[-1] == "/dev/sdx":
            return ToolOutput(
                argv=argv,
                status=None,
                stdout="",
                stderr="",
                why_not="mdadm did not answer",
                silence=AnswerKind.TIMED_OUT,
            )
        return super()._asked(*argv, timeout_s=timeout_s, stdin=stdin)


def test_a_device_that_does_not_answer_is_not_taken_for_an_empty_one() -> None:
    found = read_survey(Silent(host_tree(disks={"sdx": {}, "sdy": {}})), EMPTY, ("sdx", "sdy"))
    assert found.silent == {"sdx": "mdadm did not answer"}
    refusal = found.refuse_unread("sdy", "sdx")
    assert refusal is not None
    assert refusal.why == "what is on sdx is not known: mdadm did not answer"
    assert found.refuse_unread("sdy") is None
    assert found.no_device("sdz").why == "there is no device sdz"


def test_what_is_being_read_is_refused() -> None:
    survey = Survey(snapshot=EMPTY, pending=frozenset({"sdx", "sdy"}))
    assert survey.no_device("sdx").why == "sdx is still being read"
    refusal = survey.refuse_pending()
    assert refusal is not None
    assert refusal.why == "2 devices are still being read"
    assert Survey(snapshot=EMPTY).refuse_pending() is None


def test_a_host_of_one_thread_is_read_step_by_step() -> None:
    root = Stage(host_tree(disks={"sdx": {}, "sdx1": {}}))
    reading = Reading(root, EMPTY, ReadingScope(closely=("sdx",), parts=True)).start()
    assert reading.serial
    assert reading.progress.words == "reading which devices there are …"
    assert reading.step()
    assert reading.progress.words == "0 of 2 devices read …"
    assert reading.survey().pending == {"sdx", "sdx1"}
    while reading.step():
        pass
    assert reading.progress.words == ""
    assert set(reading.survey().devices) == {"sdx", "sdx1"}
    assert reading.survey().pending == frozenset()
