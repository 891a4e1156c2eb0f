"""A host of which nothing is read or changed."""

from tests.ui.arrays.test_key_to_job import fake

__all__ = ["fake"]
