#!/usr/bin/env python
"""Django's command line for Trip Companion."""

import sys

from tripcompanion.__main__ import manage

if __name__ == "__main__":
    manage(*sys.argv[1:])
