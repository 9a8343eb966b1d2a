"""`/api/v3.0`: for programs that were written for Splitwise's API."""
