"""The endpoints, in the order of `urls.py`."""
