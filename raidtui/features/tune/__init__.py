"""Pane 4: schedulers, queues, governors and md's knobs."""
