"""What stands on what, with its load: balance, caches, and what is wrong with them."""
