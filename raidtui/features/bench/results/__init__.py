"""What was measured: the record of a run, the history, and how runs compare."""
