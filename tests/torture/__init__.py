"""Torture: long, seeded rounds of one kind, for hours if need be. CONTRIBUTING.md says how they are run.

A kind is a module of this package with ``round_of(seed: int) -> None``, which raises if something is wrong.
Where rounds need something that takes long to make, it has ``open_up() -> None``, ``close_down() -> None``.
A round depends on nothing but its seed. pytest collects none of it; small rounds of fixed seeds are called by
tests elsewhere.
"""
