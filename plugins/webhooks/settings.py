"""Settings of webhooks."""

from tripcompanion import environment as env

QUOTA_WEBHOOKS = env.count("QUOTA_WEBHOOKS", 10, minimum=1)
# Whether webhooks may use HTTP, and lead to addresses that are not on the public internet. Only for
# development: whoever registers one could reach what only this machine can.
WEBHOOKS_ALLOW_PRIVATE = env.boolean("WEBHOOKS_ALLOW_PRIVATE", False)
