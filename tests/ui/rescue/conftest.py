"""A host of which nothing is read or changed."""

from tests.ui.arrays.test_ways import fake

__all__ = ["fake"]
