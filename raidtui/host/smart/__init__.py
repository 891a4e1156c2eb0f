"""SMART through smartctl and pySMART."""
