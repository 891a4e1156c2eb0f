"""What there is to know about each field of a benchmark's form, to be read before one decides. Pure.

A line that begins with a blank stays as it is; the others are paragraphs.
"""

from __future__ import annotations

from raidtui.bench.forms.form_draft import BenchDraft, FormField, text_of
from raidtui.bench.forms.known import HostChoices
from raidtui.bench.workload import PRESETS
from raidtui.model.knob_table import KNOBS
from raidtui.view.text import visible

_WORK = {
    "what": """\
A preset is a workload that somebody has published figures for, so that yours can be put beside them.

A job file of your own is run as it is. Its files must have names without a place: they come to lie in a
folder that is made for the run. It may start no commands, include no other file, and write no logs of its
own. The fields below that would change it are not asked for.

A workload of your own is one kind of I/O with the values below.""",
    "job": """\
A path as fio would be given it; ~ is your home folder. Before it is run, the file is read and judged. What
cannot be watched over is refused with the line that is in the way: shell commands, included files,
variables, places of files, discards, engines other than those for files.""",
    "rw": """\
In order is what copying, backups and videos do; there an array can give the speed of its disks together.
At random places is what databases, virtual machines and mail do; there requests per second count.""",
    "block": """\
The size of one request. Databases ask for 4K to 16K, streams for 128K to some M. A RAID-0, -10 or -5 is
faster than one of its disks only where a request is larger than a chunk, or where many are under way.

Several sizes with commas between are several points, and each of them is run.""",
    "size": """\
How much each job works on. Without a time a run ends when all of it was asked for once. A file is written
out before it is measured: what was only reserved reads as zeros, of which no flash was asked for.

A small size may fit into the disks' own memory, and into an SSD's fast part. What is to say something about
a busy server should be larger than these, or run by time.""",
    "depth": """\
How many requests each job has under way. At depth 1 each one waits for the one before: the figure is the
disk's latency. SATA disks take 32 at a time, NVMe disks thousands; an array takes as many of each member.""",
    "jobs": "Each job is a thread of its own, with a file of its own, so that sizes add up.",
    "runtime": """\
Figures of a few seconds are those of caches. 60 seconds show a steady read; writes of an SSD may take
minutes until its fast part is full: that is what writing before, and going on until steady, are for.""",
    "read_percent": "70 reads to 30 writes is what published figures of databases often have.",
    "engine": """\
sync and psync ask for one thing and wait. libaio and io_uring have as many requests under way as the depth
says; io_uring wants a newer kernel, and costs less processor time.""",
    "ramp": """\
What runs before the measurement begins, and does not count: caches fill, processors wake up. A tenth of the
time unless something else is given, 1 to 5 s; 0 is none. A run that ends with its size has none.""",
    "places": """\
All alike is the worst case for every cache. zipf:1.2 comes back to a few places again and again, as people
do; pareto and normal are other ways of that.""",
    "cache": """\
Passed by (direct I/O), the disks are measured. Through the page cache, memory is measured along; that is
right only where that is the question.""",
    "details": "All fields, with those that few need.",
}
_CHANGES = {
    "first": """\
One thing differs between the runs, and everything else stays. A knob is a setting of this host, as the pane
Tune has it; it is turned by a plan that is shown before, and put back at the end, after a crash too.

Chunk, layout and level can differ where arrays are made for it: choose that at where.""",
    "second": """\
Each value of the one meets each of the other: three block sizes and four depths are twelve points, and
each of them is run as often as repeats says.""",
    "A": """\
The two are run in turns, A B A B, so that what drifts meanwhile hits both. The verdict compares them by
ranks (Mann-Whitney) and tells the shift with its interval; no bell curve is assumed. Four against four
decide at 97 %, three against three at 90 %; with fewer nothing is ever decided.""",
    "block": "What is asked for at a time. The array's chunk, and a stripe of RAID-5, show in the curve.",
    "depth": "Where the curve bends, the disks are busy: more requests then only wait.",
    "jobs": "Many programs at once. Their files are their own, so the size is taken as often.",
    "chunk": """\
How much lies on one member before the next one has its turn. A published study of a RAID-10 of four SATA
SSDs is laid beside the results, in brackets.

one is the first of the devices by itself: what an array gains over it.""",
    "layout": "near reads like one disk for a single reader, far like a stripe; offset is between them.",
    "level": "RAID-4, -5 and -6 are synced first, and that is waited for: a small part of each will do.",
}
_WHERE = {
    "where": """\
Files in a folder are the default. They come into a folder that is made for the run, take three quarters of
what is free at most, and are removed afterwards.

A device is read only, by a fio that was told that it must not write. What was never written, or was
trimmed, reads as zeros that no flash was asked for, and looks too fast. It can be overwritten where nothing
uses it, nothing of another storage system is on it, fstab does not name it, it is no member of an array,
and you type its serial number.

Arrays can be made of devices that are free. Each is made, measured, stopped, and wiped again; mdadm.conf
and the initramfs never hear of it.""",
    "folder": """\
Folders on arrays come first. What is measured is the whole way down: file system, LVM, encryption, array,
disks. All of these are kept with the results.""",
    "write": "Writes can be measured then, and reads find data: the part that is used is written before.",
    "member_size": """\
All of a device need not be used: a part makes the first sync of RAID-5 and -6 short, and wears less. All
on the device is lost just the same.""",
}
_HOW = {
    "repeats": """\
One run is one value, however long it took. With two of each nothing can be told; with three against three
a difference is sure at 90 %, with four against four at 97 %. Several comparisons are corrected together, so
that more points want more repeats: the review says how many are the fewest that could decide.""",
    "grouped": """\
In turns every point is run once, then all of them again. Grouped, a point's repeats follow each other:
then what warms up or fills up during the first looks like a difference.""",
    "trim": """\
An SSD that knows what is free has room to work with. Before each run that makes all runs begin alike; an
SSD in daily use is trimmed less often, and slower. A device is discarded only where it may be
overwritten.""",
    "cool": "Some SSDs slow down when they are hot. How warm they were is kept with each run.",
    "precondition": """\
A new or trimmed SSD writes fast until it has no erased blocks left. SNIA's way is to write all of it twice,
and to measure then. This writes the size, not the whole disk: choose the size so.""",
    "steady": """\
Rounds are run until the last five are steady: no value further from another than 20 % of their mean, and
the line through them rising or falling by no more than 10 % of it. 25 rounds are the most. Only those five
count; the others are kept. What is not steady by then has no figure: NOT STEADY wherever it is shown.""",
    "quiet": """\
For a second it is looked what the disks below and the processors do, and whether an array is synced. What is
measured beside that is no figure of these disks, so it is not begun. Before each run it is looked again, and
what is found is kept with the run. No: it is measured in any case, and nobody looks.""",
    "note": "Whatever tells this from other benchmarks: before the update, new cable.",
}
_TEXTS = {**_WORK, **_WHERE, **_HOW, "first": _CHANGES["first"], "second": _CHANGES["second"]}


def meaning(draft: BenchDraft, field: FormField, known: HostChoices) -> tuple[str, ...]:
    """Return what there is to know about a field, in paragraphs and lines.

    Args:
        draft: what stands in the form.
        field: the field.
        known: what the host has to choose from.
    """
    side, _, axis = field.name.partition(" ")
    if field.name == "preset":
        return _presets()
    if field.name in {"knob", "knob2"}:
        return _knob(text_of(draft, field.name))
    if field.name == "scratch":
        return _not_offered(known)
    if field.name == "device":
        return _paragraphs(_TEXTS["where"])
    if axis:
        said = _CHANGES["A"] if side in {"A", "B"} else ""
        about = _knob(axis) if axis in KNOBS else _paragraphs(_CHANGES.get(axis, ""))
        return (*_paragraphs(said), *([""] if said else []), *about)
    return _paragraphs(_TEXTS.get(field.name) or _CHANGES.get(field.name) or field.hint)


def _paragraphs(text: str) -> tuple[str, ...]:
    parts = [" ".join(part.split()) for part in text.split("\n\n")]
    return tuple(line for part in parts for line in (part, ""))[:-1]


def _presets() -> tuple[str, ...]:
    lines = ["These are workloads that somebody has published figures for.", ""]
    for preset in PRESETS:
        more = ", and larger blocks" if len(preset.blocks) > 1 else ""
        lines += [f"{preset.name}: {preset.words}. {preset.work.words}{more}. From {preset.origin}.", ""]
    return tuple(lines[:-1])


def _knob(name: str) -> tuple[str, ...]:
    knob = KNOBS.get(name)
    if knob is None:
        return _paragraphs(_CHANGES["first"])
    more = "It is turned for all disks below, or for the uppermost array, and put back at the end."
    return (knob.what, "", knob.risk, "", more)


def _not_offered(known: HostChoices) -> tuple[str, ...]:
    refused = [each for each in known.devices if each.refusal]
    lines = ["All on these devices is lost. The first that is taken is what one, as a chunk, stands for."]
    if refused:
        lines += ["", "These cannot be taken:", ""]
        lines += [f"  {visible(each.name)}: {visible(each.refusal)}" for each in refused]
    return tuple(lines)
