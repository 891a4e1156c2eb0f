"""The screen of many hosts."""
