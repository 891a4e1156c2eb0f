"""Pane 1: the arrays, their sliders, and the flow from a verb to a job."""
