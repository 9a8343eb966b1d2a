"""Tables that Citus distributes over several servers."""
