"""SMART through smartctl's JSON; device lists and the progress of self-tests through pySMART."""
