"""A plan for the eye, and as a commented shell script."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Plan, RunTool, Step
from raidtui.plans.persist import readable
from raidtui.view.text import visible

_LAST_LINES = 6
_MOST_SHOWN = 64 << 10
_MOST_COMPARED = 1 << 20
_HARM = {
    Harm.HARMLESS: "harmless",
    Harm.REDUCES: "reduces redundancy, or makes the array unavailable for a time",
    Harm.DESTROYS: "destroys data on the devices",
}


def plan_sentences(plan: Plan, files: Mapping[str, str] | None = None) -> list[str]:
    """Return a plan as lines: title, losses, every step, every command that undoes it.

    Args:
        plan: the plan.
        files: what is in the files now that it writes, bytes as characters; then all is shown that is
            written, whatever the plan says of it. None: as the plan says.
    """
    now = dict(files) if files is not None else None
    lines = [f"{plan.title} ({_HARM[plan.harm]})"]
    lines += [f"  {text}" for text in plan.grounds]
    lines += [f"  lost afterwards: {text}" for text in plan.loss_sentences]
    lines += [f"  {text}" for text in (plan.warning, *plan.notes) if text]
    for number, step in enumerate(plan.steps, start=1):
        lines.append(f"{number:>3}  {step.command}")
        lines.append(f"       {step.why}")
        shown = content_changes(step) if now is None else whole_content(step, now.get(step.path, ""))
        lines += [f"       {text}" for text in shown]
        if now is not None and step.content is not None:
            now[step.path] = step.content
    if plan.harm is Harm.DESTROYS and not plan.restores:
        lines.append("What is on the devices cannot be restored.")
    elif words := undoable(plan):
        lines.append(words)
    lines += undo_sentences(plan, files)
    return [visible(line) for line in lines]


def undoable(plan: Plan) -> str:
    """Return a sentence that says how many steps can be undone, or up to which; "" where none can."""
    final = next((number for number, step in enumerate(plan.steps, start=1) if step.final), 0)
    if final:
        back = "the way back, where there is one, is another plan"
        return f"Once step {final} is done, nothing is rolled back: {back}."
    undone = sum(bool(step.undo) for step in plan.steps)
    steps = sum(not step.waits for step in plan.steps)
    if not undone:
        return ""
    which = f"{undone} of {steps} steps" if undone < steps else "All steps" if steps > 1 else "This"
    last = "; a failure in the middle undoes what was done" if plan.rolls_back else ""
    return f"{which} can be undone{last}."


def undo_sentences(plan: Plan, files: Mapping[str, str] | None = None) -> list[str]:
    """Return what a rollback would do, in its order: root runs it as it runs the steps.

    Args:
        plan: the plan.
        files: as for ``plan_sentences``.
    """
    lines = []
    before = takewhile(lambda numbered: not numbered[1].final, enumerate(plan.steps, start=1))
    for number, step in reversed(list(before)):
        lines += [visible(f"  undo {number}: {line}") for line in _undo_lines(step, files)]
    return lines


def _undo_lines(step: Step, files: Mapping[str, str] | None = None) -> list[str]:
    """Return the commands that undo a step; what a file is to read then, unless the step shows it."""
    lines = []
    for undo in step.undo:
        shown = step.content is not None and undo.path == step.path
        if files is not None and undo.content is not None:
            shown = undo.content == files.get(undo.path)
        lines.append(undo.command + (" (as it reads now)" if shown and undo.content is not None else ""))
        if undo.content is not None and not shown:
            lines += [f"  {line}" for line in _listed("|", undo.content)]
    return lines


def whole_content(step: Step, old: str) -> list[str]:
    """Return all that a step changes in a file: lines that go (-) and come (+), and the new one's digest.

    Args:
        step: the step.
        old: what is in the file before it, bytes as characters.
    """
    new = step.content
    if new is None:
        return []
    if new == old:
        return [f"it already reads like this: {_digest(new)}"]
    before, after = _lines(old), _lines(new)
    if len(before) * len(after) > _MOST_COMPARED:
        changed = [*_listed("-", old), *_listed("+", new)]
    else:
        changed = list(_differences(before, after))
    return [*changed, *([] if new.endswith("\n") or not new else ["(no newline at the end)"]), _digest(new)]


def _listed(sign: str, content: str) -> list[str]:
    """Return a file's lines; of one that is too long to be read, its size and digest."""
    if len(content) > _MOST_SHOWN:
        return [f"{sign} {_digest(content)}"]
    return [f"{sign} {readable(line)}" for line in _lines(content)]


def _digest(content: str) -> str:
    return f"{len(content)} bytes, SHA-256 {hashlib.sha256(content.encode('latin-1')).hexdigest()}"


def content_changes(step: Step) -> list[str]:
    """Return the lines of a file that a step removes (-) and adds (+).

    Where the old content is not known, these are the last lines of the new content (|).
    """
    if step.content is None:
        return []
    known, old = _old_content(step)
    if not known:
        return [f"| {readable(line)}" for line in _lines(step.content)[-_LAST_LINES:]]
    return list(_differences(_lines(old), _lines(step.content)))


def _differences(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    compared = SequenceMatcher(None, before, after, autojunk=False)
    for tag, first, last, new_first, new_last in compared.get_opcodes():
        if tag != "equal":
            yield from (f"- {readable(line)}" for line in before[first:last])
            yield from (f"+ {readable(line)}" for line in after[new_first:new_last])


def _old_content(step: Step) -> tuple[bool, str]:
    """Return whether the step's undo knows what was in the file before, and the text: "" for no file."""
    for undo in step.undo:
        if undo.path == step.path and undo.content is not None:
            return True, undo.content
        if undo.argv[:1] == ("rm",) and undo.argv[-1] == step.path:
            return True, ""
    return False, ""


def _lines(content: str) -> list[str]:
    return content.removesuffix("\n").split("\n") if content else []


def shell_script(plan: Plan) -> str:
    """Return a plan as a shell script: for reading, and for a rescue without raidtui.

    What raidtui reads again before each step is a comment here: a person has to look.
    """
    lines = [
        "#!/bin/sh",
        *(
            f"# {visible(text)}"
            for text in (plan.title, *plan.grounds, *plan.loss_sentences, plan.warning, *plan.notes)
            if text
        ),
    ]
    lines += ["# Right before each step, raidtui would check again what the comments say.", "set -eu"]
    for number, step in enumerate(plan.steps, start=1):
        lines += ["", f"# {number}: {visible(step.why)}"]
        lines += [
            f"#    must hold: {fact.kind} {visible(fact.subject)} {visible(fact.value)}".rstrip()
            for fact in step.needs
        ]
        lines.append(_shell(step))
        lines += [
            f"#    then holds: {fact.kind} {visible(fact.subject)} {visible(fact.value)}".rstrip()
            for fact in (*step.proves, *step.until)
        ]
        lines += [f"#    undone by: {visible(line)}" for line in _undo_lines(step)]
    return "\n".join(lines) + "\n"


_PACED = """\
move= step=
for each in {base}/dev-*; do
    read -r slot <"$each/slot"; read -r old <"$each/offset"; read -r new <"$each/new_offset"
    shift_by=$((old > new ? old - new : new - old))
    [ "$slot" = none ] || {{ [ -n "$move" ] && [ "$move" -le "$shift_by" ]; }} || move=$shift_by
done
for size in $(tr -d '()' <{base}/chunk_size); do [ "$size" -le "${{step:-0}}" ] || step=$size; done
step=$((step / 512)) && move=$(((move - 2 * step) / step * step))
[ "$move" -ge "$step" ] || move=$step
while read -r place _ total <{base}/sync_completed && [ "$place" != none ]; do
    if [ $((place + move)) -ge "$total" ]; then echo max >{base}/sync_max; break; fi
    echo $((place + move)) >{base}/sync_max || :
    sleep 0.05
done
"""
"""What ``raidtui.jobs.reshape_pace`` does."""
_CACHES = frozenset({FactKind.CACHED, FactKind.TEXT})
_DIRTY_FIELD = 14
"""Where dmsetup status has the dirty blocks of a cache."""


def _until(fact: Fact) -> str:
    """Return what waits for a cache, or until a file reads so."""
    if fact.kind is FactKind.CACHED and fact.value == "held 0":
        status = f"dmsetup status --noflush {shlex.quote(fact.subject)}"
        return f'until {status} | {{ read -r _ _ _ _ all free _; [ "$all" = "$free" ]; }}; do sleep 1; done'
    if fact.kind is FactKind.CACHED:
        field = f"dmsetup status --noflush {shlex.quote(fact.subject)} | cut -d' ' -f{_DIRTY_FIELD}"
        return f'until [ "$({field})" = 0 ]; do sleep 1; done'
    return f'until [ "$(cat {shlex.quote(fact.subject)})" = {shlex.quote(fact.value)} ]; do sleep 1; done'


def _shell(step: Step) -> str:
    if step.waits:
        names = [fact.subject for fact in step.until if fact.kind is FactKind.ARRAY]
        waits = [f"mdadm --wait /dev/{name} || :" for name in names]
        waits += [_until(fact) for fact in step.until if fact.kind in _CACHES]
        paced = _PACED.format(base=f"/sys/class/block/{step.paces}/md") if step.paces else ""
        return paced + ("; ".join(waits) or ":")
    if isinstance(step, RunTool):
        words = shlex.join(step.argv)
        words += " || :" if step.may_fail or step.proof_decides else ""  # set -e would end the script
        return f"printf %s {shlex.quote(step.stdin)} | {words}" if step.stdin else words
    if step.content is not None:
        return f"{_printf(step.content)} > {shlex.quote(step.path)}"
    return f"printf '%s\\n' {shlex.quote(step.text)} > {shlex.quote(step.path)}"


def _printf(content: str) -> str:
    """Return what prints a file's bytes, in whatever encoding the script is saved."""
    if content.isascii() and "\0" not in content:
        return f"printf %s {shlex.quote(content)}"
    octal = (f"\\0{ord(char):03o}" if not char.isascii() or char in "\\\0" else char for char in content)
    return f"printf %b {shlex.quote(''.join(octal))}"
