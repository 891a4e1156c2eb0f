"""What a check has counted: which sectors, which member disagrees, and what lies there. Only reads."""
