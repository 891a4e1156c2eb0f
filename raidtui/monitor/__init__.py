"""What is happening: samples, verdicts, events, history."""
