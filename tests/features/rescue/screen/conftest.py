"""A host of which nothing is read or changed."""

from tests.features.arrays.screen.test_key_to_job import fake

__all__ = ["fake"]
