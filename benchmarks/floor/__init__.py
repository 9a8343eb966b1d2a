"""The floor: what the service's answers cost at least, with nothing between WSGI and SQL.

It serves the same ten operations from the same tables by hand-written SQL, and nothing else: no
throttles, no sessions, no languages, hardly a check of what it is sent. Measure with it only.
"""
