"""Trials: an array is tried with its members read-only, judged by what stands on it, and taken down again."""
