"""Pages for people: what is at `/`, and names and links in the browsable API."""
