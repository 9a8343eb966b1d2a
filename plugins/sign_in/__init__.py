"""Logging in with an identity token of an OpenID provider."""
