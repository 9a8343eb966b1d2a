"""How the service runs: the server, its entry point, and who may use how much of a process."""
