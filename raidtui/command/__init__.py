"""What subcommands share: output, names of devices, how a job is followed."""
