"""Settings of signing in with a provider."""

from plugins.sign_in.providers import read_providers
from tripcompanion import environment as env

OIDC_PROVIDERS = read_providers(env.text("OIDC_PROVIDERS"))
