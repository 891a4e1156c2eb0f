"""The command line's orders: plans made, shown, applied, and the jobs that carry them out."""
