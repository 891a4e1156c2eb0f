"""Pane 1: the arrays, their sliders, and the way from a verb to a job."""
