"""raidtui: watch and throttle Linux md arrays, live, from a terminal."""

__version__ = "0.1.0"
