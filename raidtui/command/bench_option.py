"""An option of ``raidtui bench`` that says nothing that can be used."""


class OptionError(Exception):
    """The message says which."""
