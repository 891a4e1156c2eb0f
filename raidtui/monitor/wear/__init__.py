"""Disk wear: life used, writes and their cost, and faults of disks and cables, judged from SMART readings."""
