"""Pane 4: knobs."""
