"""What all tests share, those of the core and those of the plugins."""

pytest_plugins = ["tests.cast", "tests.splits.fixtures"]
