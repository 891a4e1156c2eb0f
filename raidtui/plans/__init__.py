"""What to do: pure planning from a request and a snapshot to a Plan or a Refusal."""
