"""A benchmark's forms: what a host has to choose from, what was typed, what is wrong in it, the request."""
