"""Features, a folder each, as in the product."""
