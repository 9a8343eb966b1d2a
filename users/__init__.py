"""Who you are: accounts and sessions."""
