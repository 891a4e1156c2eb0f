"""The subcommands that belong to no feature: plan, apply, jobs, capture."""
