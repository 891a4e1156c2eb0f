"""`python -m tests.torture KIND`: rounds of one kind until the time is up, each repeatable."""

import argparse
import importlib
import importlib.util
import json
import os
import secrets
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType

KINDS = {
    "md-ops": "random md operations, each field compared with what sysfs and mdadm say",
    "power-cut": "jobs of every kind, the guest killed at a random moment, booted again",
    "keys": "random keys on the screen",
    "mutated": "input of every parser, changed at random",
    "mutations": "plans, journals, undo records and answers, changed: taken only as what they were made as",
    "races": "another user, who opens, links, moves and locks what root makes",
    "storm": "events of udev and of md without pause, the memory watched",
}
MOST_FAILURES = 10  # then one cause is likely, and further rounds show nothing new


@dataclass(kw_only=True)
class Progress:
    """The progress of a run. A round's seed is the run's seed plus its number."""

    kind: str
    seed: int
    finished: int = 0
    failed: list[int] = field(default_factory=list)


def main(argv: list[str] | None = None) -> int:
    """Run rounds; 0 if none failed, 1 if one did, 2 if the kind cannot be run here."""
    chosen = read_words(argv)
    module = load(chosen.kind)
    if module is None:
        say(f"there is no module for {chosen.kind} yet")
        return 2
    progress = resumed(chosen)
    say(f"{chosen.kind}: seed {progress.seed}, from round {progress.finished}")
    begun = time.monotonic()
    with_setup = Setup(module)
    try:
        while more(chosen, progress, time.monotonic() - begun):
            number = progress.finished
            if text := failure_of(with_setup.round_of, progress.seed + number):
                with_setup.close()  # the next round does not inherit what this one broke
                progress.failed.append(number)
                record(chosen.failures, progress, number, text)
            progress.finished += 1
            save(chosen.state, progress)
    except KeyboardInterrupt:
        say("interrupted; the same --state continues from here" if chosen.state else "interrupted")
    finally:
        with_setup.close()
    say(f"{chosen.kind}: {progress.finished} rounds, {len(progress.failed)} failed")
    return 1 if progress.failed else 0


class Setup:
    """A kind and the resources of its rounds, opened before the first round and again after a failed one."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._open = False

    def round_of(self, seed: int) -> None:
        """One round."""
        if not self._open:
            self._call("open_up")
            self._open = True
        self._module.round_of(seed)

    def close(self) -> None:
        """Release the resources."""
        if self._open:
            self._open = False
            self._call("close_down")

    def _call(self, name: str) -> None:
        function: Callable[[], None] | None = getattr(self._module, name, None)
        if function is not None:
            function()


def load(kind: str) -> ModuleType | None:
    """The module of a kind, or None where there is none yet."""
    name = f"tests.torture.{kind.replace('-', '_')}"
    return importlib.import_module(name) if importlib.util.find_spec(name) is not None else None


def read_words(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.torture",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(f"{kind:<10} {what}" for kind, what in KINDS.items()),
    )
    parser.add_argument("kind", choices=KINDS, metavar="KIND", help="one of those below")
    parser.add_argument("--seed", type=int, metavar="N", help="the seed of round 0; else one at random")
    parser.add_argument("--minutes", type=float, default=10.0, metavar="M", help="no round begins later (10)")
    parser.add_argument("--rounds", type=int, metavar="N", help="end after N rounds, whatever the time")
    parser.add_argument("--state", type=Path, metavar="FILE", help="go on where FILE says; kept up to date")
    parser.add_argument("--failures", type=Path, default=Path("torture-failures"), metavar="FOLDER")
    return parser.parse_args(argv)


def resumed(chosen: argparse.Namespace) -> Progress:
    """Return the first round: that of the state file, or 0."""
    if chosen.state is not None and chosen.state.exists():
        progress = Progress(**json.loads(chosen.state.read_text()))
        if progress.kind != chosen.kind or chosen.seed not in {None, progress.seed}:
            raise SystemExit(f"{chosen.state} is of {progress.kind} with seed {progress.seed}")
        return progress
    seed = secrets.randbits(32) if chosen.seed is None else chosen.seed
    return Progress(kind=chosen.kind, seed=seed)


def more(chosen: argparse.Namespace, progress: Progress, passed_s: float) -> bool:
    """Return whether another round starts."""
    if len(progress.failed) >= MOST_FAILURES:
        return False
    if chosen.rounds is not None:
        return bool(progress.finished < chosen.rounds)
    return bool(passed_s < chosen.minutes * 60)


def failure_of(round_of: Callable[[int], None], seed: int) -> str:
    """Run one round; its traceback, or nothing."""
    try:
        round_of(seed)
    except (Exception, SystemExit):  # noqa: BLE001  (a round may fail by anything, and all of it is to be kept)
        return traceback.format_exc()
    return ""


def record(folder: Path, progress: Progress, number: int, text: str) -> None:
    """Keep the failure, with the command that repeats it."""
    seed = progress.seed + number
    again = f"python -m tests.torture {progress.kind} --seed {seed} --rounds 1"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{progress.kind}-{seed}.txt"
    file.write_text(f"{again}\n\n{text}")
    say(f"round {number} failed: {text.splitlines()[-1]}\n  {file}\n  again: {again}")


def save(file: Path | None, progress: Progress) -> None:
    """Write the state file atomically."""
    if file is not None:
        part = file.with_name(f"{file.name}.part")
        part.write_text(json.dumps(asdict(progress)))
        os.replace(part, file)  # noqa: PTH105 - a rename over the old one, as meant


def say(text: str) -> None:
    """Print one line and flush it."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
