"""What things are: pure values; no files, no processes, no clock."""
