"""What all front ends live on: the threads, the loop, reports, jobs, a session of one host."""
