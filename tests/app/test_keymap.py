"""The user's own keys: what cannot be used is said, and the rest holds."""

from __future__ import annotations

from raidtui.app.keymap import check_keymap
from raidtui.config import Config
from raidtui.features.arrays.screen.array_commands import ARRAYS
from raidtui.frame.commands import EVERYWHERE
from tests.frame.staging import app_of, main_of, running, until
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid1

ROOM = ((*EVERYWHERE, *ARRAYS),)


def test_what_can_be_used_is_kept() -> None:
    keys = {"arrays.check": "f5", "app.quit": "q,ctrl+c"}
    assert check_keymap(keys, ROOM) == (keys, [])


def test_two_commands_may_exchange_their_keys() -> None:
    keys = {"arrays.check": "p", "arrays.pause": "c"}
    assert check_keymap(keys, ROOM) == (keys, [])


def test_a_key_that_is_taken_is_refused_with_both_names() -> None:
    kept, troubles = check_keymap({"arrays.check": "p", "arrays.fail": "f7", "arrays.add": "f7"}, ROOM)
    assert kept == {"arrays.fail": "f7"}
    assert troubles == [
        '[keys] "arrays.check" = "p" is ignored: p is the key of arrays.pause already',
        '[keys] "arrays.add" = "f7" is ignored: F7 is the key of arrays.fail already',
    ]


def test_a_key_of_everywhere_is_taken_in_each_pane() -> None:
    kept, troubles = check_keymap({"arrays.check": "question_mark"}, ROOM)
    assert not kept
    assert troubles[0].endswith("? is the key of app.help already")


def test_an_unknown_command_is_named_with_the_nearest() -> None:
    keys = {"arrays.chek": "f5", "nothing like that": "f6", "arrays.check": "f5,"}
    kept, troubles = check_keymap(keys, ROOM)
    assert not kept
    assert troubles == [
        '[keys] "arrays.chek" is ignored: there is no such command; did you mean arrays.check?',
        '[keys] "nothing like that" is ignored: there is no such command; docs/configuration.md lists all',
        '[keys] "arrays.check" = "f5," is ignored: a key is missing',
    ]


async def test_the_console_says_it_and_goes_on_with_the_rest() -> None:
    config = Config(keys={"arrays.check": "p", "arrays.add": "f7"})
    async with running(Kernel(raid1()), config=config) as pilot:
        await until(pilot, lambda: any("arrays.pause already" in each.text for each in main_of(pilot).events))
        assert app_of(pilot).keymap == {"arrays.add": "f7"}
