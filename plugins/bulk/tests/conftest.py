"""What a closing used."""

from tests.splits.test_offsets import pay_with_rest

__all__ = ["pay_with_rest"]
