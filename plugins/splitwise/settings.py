"""Settings of Splitwise's API, and of the log-in by OAuth."""

from importlib.util import find_spec

from tripcompanion import environment as env

# Whether /api/v3.0 serves programs that were written for Splitwise's API.
SPLITWISE_API = env.boolean("SPLITWISE_API", False)
# Whether they can log in by OAuth, too: if the extra `splitwise` is installed.
SPLITWISE_OAUTH = SPLITWISE_API and find_spec("oauth2_provider") is not None
LARGE_BODIES = [r"/api/v3\.0/(create_expense|update_expense/[0-9]{1,19})"]
PATHS_WITH_FORMS = ["/api/v3.0/"]
# Before our own apps, which hide some of its pages of the admin site.
INSTALLED_APPS = ["oauth2_provider"] if SPLITWISE_OAUTH else []
OAUTH2_PROVIDER = {
    "OAUTH2_VALIDATOR_CLASS": "plugins.splitwise.oauth.Validator",
    "SCOPES_BACKEND_CLASS": "plugins.splitwise.oauth.Scopes",
    "ACCESS_TOKEN_EXPIRE_SECONDS": 360 * 24 * 3600,
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
}
