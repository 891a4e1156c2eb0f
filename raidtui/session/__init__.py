"""What both front ends hold of one host: watch, plans and jobs, tuning, wear, benchmarks; threads."""
