"""Why fio failed, in a sentence each."""

from __future__ import annotations

import pytest

from raidtui.features.bench.run.fio_process import fio_trouble, refuse_fio
from raidtui.model.answer import Answer, AnswerKind, known

UNKNOWN = (
    "/usr/bin/fio: unrecognized option '--foo=1'",
    "/usr/bin/fio: unrecognized option '--foo=1'",
    "Did you mean loops?",
)
DROPPED = ("Bad option <foo=3>", "Did you mean flow?", "fio: job x dropped")
ENGINE = ("fio: engine nosuch not loadable", "fio: failed to load engine")


@pytest.mark.parametrize(
    ("status", "said", "errors", "sentence"),
    [
        (0, (), (0,), ""),
        (1, UNKNOWN, (), "fio does not know the option foo; leave it out, or use a newer fio"),
        (1, DROPPED, (), "fio does not know the option foo; leave it out, or use a newer fio"),
        (1, ENGINE, (), "fio has no engine nosuch here; choose another one"),
        (1, ("fio: failed parsing bs=abc",), (), "fio does not accept bs=abc"),
        (1, ("fio: something new",), (), "fio: something new"),
        (1, (), (), "fio exited with status 1 and printed nothing"),
        (0, (), (0, 28), "there is no space left at /srv; choose a smaller size, or make room"),
        (
            1,
            ("fio: pid=9750, err=30/file:filesetup.c:805, func=open(x), error=Read-only file system",),
            (),
            "the file system at /srv is read-only; remount it, or choose another folder",
        ),
        (1, (), (5,), "/srv failed with an I/O error; see the kernel log"),
        (1, (), (95,), "/srv: Operation not supported"),
        (-9, (), (), "fio was killed by SIGKILL"),
        (
            125,
            ("sandbox: net: Operation not permitted",),
            (),
            "fio was not started: net: Operation not permitted",
        ),
        (-200, (), (), "fio was killed by signal 200"),
        (None, (), (), "fio did not stop when asked to and was killed"),
        (128, ("fio: terminating on signal 15",), (), "fio was stopped by another process"),
    ],
)
def test_sentences(status: int | None, said: tuple[str, ...], errors: tuple[int, ...], sentence: str) -> None:
    assert fio_trouble(status, said, errors, where="/srv") == sentence


def test_stopped_by_us() -> None:
    assert fio_trouble(128, (), (0,), where="/srv", stopped=True) == "stopped before it finished"


def test_no_fio() -> None:
    refusal = refuse_fio(Answer(kind=AnswerKind.NO_TOOL, why="fio is not installed"))
    assert refusal is not None
    assert refusal.sentence == "fio is not installed; apt install fio"
    refusal = refuse_fio(known((2, 21)))
    assert refusal is not None
    assert refusal.sentence == (
        "fio 2.21 is too old: its status output has no latencies in nanoseconds; install fio 3.1 or newer"
    )
    assert refuse_fio(known((3, 33))) is None
