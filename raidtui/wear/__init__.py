"""How worn the disks are, what cost it, and what is wrong with a disk or its cable: verdicts on readings."""
