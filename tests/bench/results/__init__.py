"""Results, kept and compared."""
