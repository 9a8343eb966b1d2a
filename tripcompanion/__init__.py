"""The project: settings, the URL map, and the rooms around the three apps."""
