"""How fast and how quiet raidtui is, beside its peers and an empty Textual app; see README.md."""
