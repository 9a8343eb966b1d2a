"""Identity: accounts, sessions, tokens and mail."""
