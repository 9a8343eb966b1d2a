"""What the Angular client of MapMyJourney, the predecessor of this service, expects.

The client sends `X-App-Client: MapMyJourney…` with every request except logging in and registering.
Only such requests get these routes and fields, and the OpenAPI document does not mention them. To
remove all of it, delete this folder, its tests, and its line in `MIDDLEWARE`.
"""
