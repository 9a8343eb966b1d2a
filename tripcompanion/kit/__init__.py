"""What the API says about HTTP: errors, JSON, pages, throttles. It knows no trip."""
