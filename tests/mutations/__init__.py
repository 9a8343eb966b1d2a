"""Mutation tests for `make mutate`: every guard is removed in turn, and a test must fail."""
