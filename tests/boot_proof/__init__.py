"""`make boot-proof`: Debian on md, broken in many ways and booted with each disk removed in turn.

What `raidtui boot-check` says of an image, and what the boots of it do, must agree.
"""
