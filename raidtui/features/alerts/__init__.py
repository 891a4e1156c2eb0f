"""What an alert says, and where alerts are sent. Pure."""
