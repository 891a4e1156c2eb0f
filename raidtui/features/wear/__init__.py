"""What is said of wear, to a person and to a program, and what the self-tests of disks offer."""
