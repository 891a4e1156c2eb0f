"""What the logs of a host hold: the journal, files of a syslog daemon, the kernel's ring buffer."""
