"""The project: settings, the URL map, and the packages around the three apps."""
