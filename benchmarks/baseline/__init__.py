"""The baseline: the same responses as the service, with nothing between WSGI and SQL.

It serves the same eleven operations from the same tables with hand-written SQL and nothing else: no
throttles, sessions or translations, and hardly any validation. Use it for measurements only.
"""
