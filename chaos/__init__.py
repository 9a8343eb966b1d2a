"""What `make chaos` runs: faults on purpose, under writers that keep a journal.

A real server with four workers and a PostgreSQL of its own are started, and killed, stopped,
crashed, filled and flooded while writers go on. Whoever was told that something is stored must
find it stored, once; nothing else may be lost, and the audit must find no difference.
"""
