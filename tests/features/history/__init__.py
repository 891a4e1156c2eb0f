"""The timeline: lines of logs to entries, incidents and what they point to."""
