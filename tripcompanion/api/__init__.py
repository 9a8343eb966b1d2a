"""The HTTP side of the API: viewsets, problems, JSON, pagination, throttling. Knows no trip."""
