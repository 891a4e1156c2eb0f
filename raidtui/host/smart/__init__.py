"""SMART: what smartctl and pySMART say of a disk."""
