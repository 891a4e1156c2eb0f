"""The files beside a job's plan by which it is of another kind than one that takes a plan's steps."""

SCHEDULE_FILE = "bench.json"
"""A benchmark's job has no steps; this file beside its plan has what it measures (``features/bench``)."""
TRIAL_FILE = "trial.json"
"""A trial's steps are undone when it was judged; this file has what is looked at (``features/rescue``)."""
COMPARISON_FILE = "comparison.json"
"""A comparison of members only reads, for hours: it has no steps, and other jobs run meanwhile."""
PACE_FILE = "pace.json"
"""A pacing of syncs moves limits that it gives back: it has no steps, and other jobs run meanwhile."""
COPY_FILE = "copy.json"
"""A copy's step may take days, and is ended when that is asked (``features/rescue``)."""

COMMANDS = {SCHEDULE_FILE: "bench", **dict.fromkeys((TRIAL_FILE, COPY_FILE, COMPARISON_FILE), "rescue")}
"""The subcommand whose ``work`` carries out a job with that file; ``jobs`` carries out the others."""
RUN_BESIDE = (COMPARISON_FILE, PACE_FILE)
"""Jobs with one of these change nothing of storage: others need not wait for them."""
NOT_UNDONE = (SCHEDULE_FILE, TRIAL_FILE)
"""Jobs with one of these leave no steps of theirs to be undone from their journal."""
