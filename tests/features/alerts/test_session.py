"""Alerts through real channels: an HTTP and an SMTP server on the loopback, which fail in each way."""

from __future__ import annotations

import email
import email.policy
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from raidtui.features.alerts import session as alerts
from raidtui.features.alerts.channels import ChannelsError
from raidtui.features.alerts.session import keep_channels, read_channels, send_unkept, send_waiting
from raidtui.jobs.alert_channel import Task
from raidtui.jobs.alert_channels_file import channels_path
from raidtui.jobs.alert_sender import own_environment
from raidtui.jobs.alert_spool import AlertSpool, new_alert, spool_folder
from raidtui.model.alert import Alert, AlertEvent, AlertWords, Channel, Delivery, Message
from raidtui.model.finding import Severity
from tests.features.alerts.servers import SECRET, Post, Web, mail_server, web_server
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10

pytestmark = pytest.mark.usefixtures("not_root")

SENDMAIL = """\
#!{python} -I
import smtplib, sys, email
mail = email.message_from_bytes(sys.stdin.buffer.read())
with smtplib.SMTP("127.0.0.1", {port}, timeout=5) as server:
    server.sendmail("root@lab", [mail["To"]], mail.as_bytes())
"""


@pytest.fixture
def post() -> Iterator[Post]:
    with mail_server() as server:
        yield server


def hook(web: Web, name: str = "hook", least: Severity = Severity.INFO) -> Channel:
    url = f"json://admin:{SECRET}@127.0.0.1:{web.port}/{name}"
    return Channel(name=name, url=url, least=least)


def mail(tmp_path: Path, post: Post) -> Channel:
    program = tmp_path / "sendmail"
    program.write_text(SENDMAIL.format(python=sys.executable, port=post.port))
    program.chmod(0o755)
    return Channel(name="mail", mail_to="root", program=str(program))


def spooled(name: str = "Fail", device: str = "/dev/md127", detail: str = "/dev/sda") -> Alert:
    alert = new_alert(AlertEvent(source="mdadm", name=name, device=device, detail=detail), "nas")
    AlertSpool(spool_folder()).keep(alert)
    return alert


def host() -> Kernel:
    return Kernel(raid10(members=("sda", "sdb", "sdc", "sdd")))


def again(*, eager: bool = True) -> tuple[Alert, ...]:
    return send_waiting(host(), eager=eager).waiting


def test_a_webhook_gets_our_verdict(web: Web) -> None:
    keep_channels([hook(web)])
    alert = spooled("DegradedArray", detail="")
    assert again() == ()
    [(path, body)] = web.got
    assert path == "/hook"
    assert '"title": "nas: data is degraded"' in body
    assert "data is optimal now." in body
    [sent] = AlertSpool(spool_folder()).sent()
    assert (sent.id, sent.deliveries["hook"].tries, sent.deliveries["hook"].why) == (alert.id, 1, "")
    assert again() == ()
    assert len(web.got) == 1


def test_ntfy_and_mail_through_apprise(web: Web, post: Post) -> None:
    keep_channels(
        [
            Channel(name="phone", url=f"ntfy://127.0.0.1:{web.port}/disks"),
            Channel(
                name="mail",
                url=f"mailto://127.0.0.1:{post.port}?from=root@lab.test&to=me@lab.test&mode=insecure",
            ),
        ]
    )
    spooled()
    assert again() == ()
    assert "sda of data has failed" in web.got[0][1]
    [(to, text)] = post.got
    assert to == ["me@lab.test"]
    assert "nas: sda of data has failed" in text


def test_a_matrix_room(web: Web) -> None:
    """A stand-in that answers as a home server does: raidtui logs in, joins the room, and writes."""
    keep_channels([Channel(name="room", url=f"matrix://me:{SECRET}@127.0.0.1:{web.port}/!room:lab")])
    spooled()
    assert again() == ()
    paths = [path for path, _ in web.got]
    assert [path.split("?")[0].split("/")[4] for path in paths] == ["login", "join", "rooms", "logout"]
    assert "nas: sda of data has failed" in web.got[2][1]


def test_sendmail(tmp_path: Path, post: Post) -> None:
    keep_channels([mail(tmp_path, post)])
    alert = spooled()
    assert again() == ()
    [(to, text)] = post.got
    found = email.message_from_string(text, policy=email.policy.default)
    assert (to, found["To"]) == (["root"], "root")
    assert found["Subject"] == "[degraded] nas: sda of data has failed"
    assert found["Message-ID"] == f"<{alert.id}.raidtui@nas>"
    post.refuses = True
    spooled()
    [left] = again()
    assert "550" in left.deliveries["mail"].why or "no such user" in left.deliveries["mail"].why
    post.refuses = False
    assert again() == ()
    assert len(post.got) == 2


@pytest.mark.parametrize("status", [403, 500, None], ids=["refuses", "fails", "hangs"])
def test_what_fails_is_kept_and_comes_in_order(
    web: Web, status: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each later one waits behind the first; other channels do not."""
    monkeypatch.setattr("raidtui.jobs.alert_sender.MESSAGE_S", 6.0)
    with web_server() as other:
        keep_channels([hook(web), hook(other, "other")])
        web.status = status
        for number in range(3):
            spooled(detail=f"/dev/sd{number}")
        left = again()
        assert [each.deliveries["hook"].tries for each in left if "hook" in each.deliveries] == [1]
        assert left[0].deliveries["hook"].why
        assert SECRET not in str(left)
        assert len(other.got) == 3
        web.status = 200
        assert again() == ()
        assert web.titles() == [f"nas: sd{number} of data has failed" for number in range(3)]
        assert len(other.got) == 3  # where it had succeeded, nothing is sent twice


def test_a_channel_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """By raidtui's own limit, whatever the library's is."""
    monkeypatch.setattr("raidtui.jobs.alert_sender.MESSAGE_S", 5.0)
    with web_server() as web:
        web.status = None
        patient = f"json://127.0.0.1:{web.port}/x?rto=60"
        keep_channels([Channel(name="hook", url=patient, least=Severity.INFO)])
        spooled()
        [left] = again()
        assert web.asked.is_set()
        assert left.deliveries["hook"].why.startswith("no answer within")


def test_a_process_that_is_left_alone_ends(web: Web) -> None:
    """It holds the spool's lock: without anybody who would kill it, it does not hang for ever."""
    web.status = None
    message = Message(id="1", at_s=0.0, host="nas", severity=Severity.INFO, title="a", body="b")
    task = Task(url=f"json://127.0.0.1:{web.port}/x?rto=60", messages=(message,), limit_s=2)
    done = subprocess.run(
        (sys.executable, "-P", "-m", "raidtui.jobs.alert_channel"),
        input=msgspec.json.encode(task),
        env={**os.environ, **own_environment()},
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGALRM


def test_the_server_is_down_and_comes_up_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    keep_channels([Channel(name="hook", url=f"json://127.0.0.1:{port}/x")])
    first = spooled(detail="/dev/sda")
    assert again()[0].deliveries["hook"].tries == 1
    assert again(eager=False)[0].deliveries["hook"].tries == 1  # not due yet
    with web_server(port) as web:
        second = spooled(detail="/dev/sdb")  # a new one tries all
        assert again() == ()
        assert web.titles() == ["nas: sda of data has failed", "nas: sdb of data has failed"]
    assert [each.id for each in AlertSpool(spool_folder()).sent()] == [first.id, second.id]


def test_a_message_that_fails_often_does_not_hold_the_others(web: Web) -> None:
    keep_channels([hook(web)])
    spool = AlertSpool(spool_folder())
    stuck = replace(spooled(), deliveries={"hook": Delivery(tries=5, tried_s=1e12, why="x")})
    spool.keep(replace(stuck, deliveries={"hook": Delivery(tries=5, tried_s=stuck.at_s, why="x")}))
    spooled(detail="/dev/sdb")
    left = again(eager=False)
    assert web.titles() == ["nas: sdb of data has failed"]
    assert [each.id for each in left] == [stuck.id]


def test_a_wrong_channel_keeps_its_alerts_and_no_other_does(web: Web) -> None:
    path = keep_channels([hook(web)])
    path.write_text(path.read_text() + '\n[channels.bad]\nurl = "nowhere"\n')
    spooled()
    result = send_waiting(host(), eager=True)
    assert result.troubles == ("channel bad: its url has another form than SCHEME://...",)
    assert [list(each.deliveries) for each in result.waiting] == [["hook"]]
    path.write_text(path.read_text().replace('"nowhere"', f'"unheardof://{SECRET}"'))
    [left] = again()
    assert left.deliveries["bad"].why.startswith("Apprise does not know this kind of URL")
    keep_channels([hook(web)])
    assert again() == ()
    assert len(web.got) == 1


@pytest.mark.parametrize("text", ["[channels", f'[channels.a]\nurl = "json://{SECRET}', "x = 1"])
def test_a_file_that_is_damaged_loses_nothing(text: str) -> None:
    spooled()
    channels_path().parent.mkdir(parents=True)
    channels_path().write_text(text)
    result = send_waiting(host(), eager=True)
    [trouble] = result.troubles
    assert trouble.endswith("; nothing is sent until it is fixed, and nothing is lost")
    assert SECRET not in trouble
    assert len(result.waiting) == 1
    assert stat.S_IMODE(channels_path().stat().st_mode) == 0o600  # it was readable for all
    with pytest.raises(ChannelsError):
        read_channels()


@pytest.mark.parametrize("others", ["may write it", "made a link of it", "made a FIFO of it"])
def test_a_file_that_others_could_have_written_is_not_obeyed(others: str) -> None:
    """It names a program that root runs."""
    path = channels_path()
    path.parent.mkdir(parents=True)
    path.with_name("x").write_text('[channels.x]\nsendmail = "root"\nprogram = "/bin/true"\n')
    if others == "may write it":
        path.with_name("x").rename(path).chmod(0o666)
    elif others == "made a link of it":
        path.symlink_to("x")
    else:
        os.mkfifo(path)
    with pytest.raises(ChannelsError, match=r"by others|symbolic links|not a regular file"):
        read_channels()


def test_without_channels_all_waits() -> None:
    spooled()
    result = send_waiting(host(), eager=True)
    assert result.troubles == (
        "no channel is configured: raidtui alert --add NAME adds one (docs/alerts.md)",
    )
    assert len(result.waiting) == 1


def test_the_least_severity(web: Web) -> None:
    keep_channels([hook(web, least=Severity.DEGRADED)])
    for name in ("SpareActive", "SparesMissing", "Fail", "TestMessage"):
        spooled(name, detail="")
    assert again() == ()
    assert web.titles() == ["nas: a member of data has failed", "nas: this is a test alert, for data"]


def test_one_that_cannot_be_kept_is_sent_once(web: Web) -> None:
    keep_channels([hook(web), Channel(name="bad", trouble="it is wrong")][:1])
    send_unkept(host(), new_alert(AlertEvent(source="mdadm", name="Fail", device="/dev/md127"), "nas"))
    assert web.titles() == ["nas: a member of data has failed"]


def test_arrays_that_do_not_answer(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """The alert goes out without a verdict, and says so."""
    monkeypatch.setattr(alerts, "_JUDGED_S", 0.2)
    hanging = host()
    monkeypatch.setattr(hanging, "read", lambda *_, **__: web.go.wait(60) and b"")
    keep_channels([hook(web)])
    spooled()
    assert send_waiting(hanging, eager=True).waiting == ()
    assert "raidtui's own verdict is not known: the kernel has not answered within" in web.got[0][1]


def test_words_that_were_found_at_once_are_kept(web: Web) -> None:
    """The hook's process looks at the array before it waits for another that is sending."""
    keep_channels([hook(web)])
    alert = spooled()
    words = AlertWords(severity=Severity.FAILED, title="then", sentence="as it was then")
    assert send_waiting(host(), eager=True, judged={alert.id: words}).waiting == ()
    assert web.titles() == ["then"]


def test_a_mark_says_that_it_was_accepted() -> None:
    """The process that sent it has outlived the one that started it; what is noted already stays."""
    spool = AlertSpool(spool_folder())
    sent = Delivery(done_s=1.0, tries=3, tried_s=1.0)
    kept = replace(new_alert(AlertEvent(source="mdadm", name="Fail"), "nas"), deliveries={"mail": sent})
    spool.keep(kept)
    for channel in ("mail", "phone"):
        Path(spool.marks(channel).format(id=kept.id)).write_bytes(b"")
    found = spool.marked(kept).deliveries
    assert found["mail"] == sent
    assert (found["phone"].tries, found["phone"].done_s) == (1, found["phone"].tried_s)
