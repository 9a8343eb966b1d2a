"""The password of everybody in the tests."""

PASSWORD = "four-green-suitcases"
