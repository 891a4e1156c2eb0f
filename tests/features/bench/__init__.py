"""Benchmarks without disks: recorded streams, and a fio that is a script."""
