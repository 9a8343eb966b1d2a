"""The HTTP side of the API: errors, JSON, pagination, throttling. Independent of the domain."""
