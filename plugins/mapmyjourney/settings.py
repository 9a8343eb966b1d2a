"""Settings of the client: the requests that it sends have a URL map of their own."""

MIDDLEWARE = ["plugins.mapmyjourney.middleware.MapMyJourney"]
