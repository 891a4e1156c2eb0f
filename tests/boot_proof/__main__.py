"""`python -m tests.boot_proof`: builds, breaks, asks and boots; what is done already is not done again."""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.boot_proof.boots import boot
from tests.boot_proof.cases import CASES, LOADERS, TO_RUN_INSIDE, VARIANTS, Case
from tests.boot_proof.fixtures import keep
from tests.boot_proof.image import LAYOUTS, ImageGuest, copy_images, image_files
from tests.boot_proof.tree import kernel_of, make_initramfs, make_tree
from tests.lab.guests.link import LabError

STATE = Path(".boot-proof")


def main() -> int:
    """Do all cases, or those that are named; 0 if verdict and outcome agree in all, else 1."""
    parser = argparse.ArgumentParser(prog="make boot-proof", description=__doc__)
    parser.add_argument("--only", default="", help="names of cases, with commas")
    parser.add_argument("--state", type=Path, default=STATE, help="the folder of images and results")
    parser.add_argument("--again", action="store_true", help="ask raidtui again, also where it was asked")
    parser.add_argument("--report", action="store_true", help="only compare what was found already")
    parser.add_argument(
        "--keep", action="store_true", help="write the fixtures of make test of what was found"
    )
    chosen = parser.parse_args()
    names = [name for name in chosen.only.split(",") if name] or list(CASES)
    state = chosen.state.resolve()
    state.mkdir(exist_ok=True)
    if chosen.keep:
        keep(state, results(state), names)
        return 0
    if chosen.report:
        return report(state, [name for name in names if (state / "cases" / name / "verdict.json").exists()])
    make_tree(state)
    failed = 0
    if chosen.again:
        for name in names:
            ask(state / "cases" / name, CASES[name])
    for turn in range(max(LAYOUTS[CASES[name].layout].disks for name in names)):
        for name in names:
            try:
                carried_out(state, name, turn)
            except (AssertionError, LabError, subprocess.SubprocessError) as error:
                print(f"{name}: {error}", flush=True)
                failed += 1
    return max(report(state, names), 1 if failed else 0)


def carried_out(state: Path, name: str, turn: int) -> None:
    """Make the image of a case, ask, and boot it without one disk, as far as that is not done already.

    Raises:
        AssertionError: a command of it failed.
        LabError: a guest of it ended.
    """
    case = CASES[name]
    files = image_files(state / "cases" / name, LAYOUTS[case.layout].disks)
    if turn >= len(files) or (key := f"{name} without {files[turn].name}") in results(state):
        return
    folder = prepared(state, name, case)
    variables = folder / "variables"
    if case.inside and not variables.exists():
        ran = boot(files, folder / "inside.log", uefi=case.uefi, variables=variables, keeps=True)
        assert ran.up, f"{name}: it did not come up with all its disks: {ran.end}"
    if not (folder / "verdict.json").exists():
        ask(folder, case)
    log = folder / f"without-{files[turn].name}.log"
    there = [file for file in files if file != files[turn]]
    seen = boot(there, log, uefi=case.uefi, variables=variables)
    note(state, {"key": key, "end": seen.end, "seconds": round(seen.seconds), "up": seen.up})


def report(state: Path, names: list[str]) -> int:
    """Say where verdict and outcome differ, and what is not known; return 1 if they differ anywhere."""
    found, wrong, unknown = results(state), 0, 0
    for name in names:
        if not (state / "cases" / name / "verdict.json").exists():
            continue
        verdict = json.loads((state / "cases" / name / "verdict.json").read_text())
        said = {disk["name"]: disk for disk in verdict["disks"]}
        for key, row in found.items():
            case, _, disk = key.partition(" without ")
            if case != name:
                continue
            answer = said[disk]["boots_without"]
            unknown += answer is None
            wrong += answer is not None and answer != row["up"]
            codes = ", ".join(reason["code"] for reason in said[disk]["reasons"])
            mark = "agrees" if answer == row["up"] else "unknown" if answer is None else "DIFFERS"
            print(f"{mark:8}{key}: boots {answer} ({codes}); it ended {row['end']} after {row['seconds']} s")
    print(f"{wrong} differ, {unknown} are not told")
    return 1 if wrong else 0


def ask(folder: Path, case: Case) -> None:
    """Take the verdict on a copy of an image."""
    layout, copy = LAYOUTS[case.layout], folder / "asked"
    copy_images(folder, copy, layout.disks)
    guest = ImageGuest.on(copy, layout.disks)
    try:
        verdict, noted = guest.verdict(layout, uefi=case.uefi)
    finally:
        guest.shutdown()
        shutil.rmtree(copy)
    (folder / "verdict.json").write_text(json.dumps(verdict, indent=1))
    (folder / "noted.json").write_bytes(noted)


def prepared(state: Path, name: str, case: Case) -> Path:
    """Return the folder with the images of a case."""
    folder, layout = state / "cases" / name, LAYOUTS[case.layout]
    if (folder / "made").exists():
        return folder
    base = base_image(state, case.layout)
    copy_images(base, folder, layout.disks)
    made = initramfs(state, case.initramfs)
    guest = ImageGuest.on(folder, layout.disks)
    try:
        shutil.copyfile(made, guest.folder / "share" / "initramfs")
        put = f"cp /mnt/initramfs /boot/initrd.img-{kernel_of(state / 'tree')}\n"
        done = guest.enter(layout, put + case.script)
        assert done.status == 0, f"{name}: {done.output}"
        if case.inside:
            (guest.folder / "share" / "inside").write_text(case.inside)
            done = guest.enter(layout, TO_RUN_INSIDE)
            assert done.status == 0, f"{name}: {done.output}"
        (folder / "made").write_text(done.output)
        guest.close()
    finally:
        if guest.alive:
            guest.shutdown()
    return folder


def base_image(state: Path, name: str) -> Path:
    """Return the folder with the healthy images of a layout."""
    folder, layout = state / "layouts" / name, LAYOUTS[name]
    if (folder / "made").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    plain = initramfs(state, "plain")
    guest = ImageGuest.on(folder, layout.disks)
    try:
        guest.make(layout, state / "tree")
        shutil.copyfile(plain, guest.folder / "share" / "initramfs")
        put = f"cp /mnt/initramfs /boot/initrd.img-{kernel_of(state / 'tree')}\n"
        done = guest.enter(layout, put + LOADERS)
        assert done.status == 0, f"{name}: {done.output}"
        guest.close()
    finally:
        if guest.alive:
            guest.shutdown()
    (folder / "made").touch()
    return folder


def initramfs(state: Path, name: str) -> Path:
    """Return one of the initramfs."""
    variant = VARIANTS[name]
    return make_initramfs(state, name, variant.files, variant.hook, variant.maker)


def results(state: Path) -> dict[str, dict[str, Any]]:
    """Return what was found already."""
    file = state / "results.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return {row["key"]: row for row in map(json.loads, lines)}


def note(state: Path, row: dict[str, Any]) -> None:
    """Add a result."""
    with (state / "results.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    sys.exit(main())
