"""When all arrays are checked: what the distribution has for it, set as a plan."""
