"""The project: settings, the URL map, the WSGI entry point, and the kit that knows HTTP."""
