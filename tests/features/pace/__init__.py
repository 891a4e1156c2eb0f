"""The pacing's pure core, without a host."""
