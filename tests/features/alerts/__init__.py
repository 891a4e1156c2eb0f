"""What an alert says, and where it is sent."""
