"""All settings, from the environment or `.env`; the defaults suit a development machine."""

from datetime import timedelta
from typing import Any

from django.utils.translation import gettext_lazy

from tripcompanion import environment as env
from tripcompanion.database.connections import POOLERS, connection_settings
from tripcompanion.observability.logs import FORMATS, log_format, logging_settings
from tripcompanion.openapi import description
from users.signing_keys import read_keys, signing_key

BASE_DIR, DATA_DIR = env.BASE_DIR, env.DATA_DIR
env.load(DATA_DIR / ".env")

# -- Process ----------------------------------------------------------------------------------

DEBUG = env.boolean("DEBUG", False)
SECRET_KEY = env.secret_key(DEBUG)
ALLOWED_HOSTS = env.hosts("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
ROOT_URLCONF = "tripcompanion.urls"
WSGI_APPLICATION = "tripcompanion.serving.wsgi.application"
APPEND_SLASH = False
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
# Patterns of paths that take longer bodies, for accounts only: a file, and the form around it.
LARGE_BODIES: list[str] = []
LARGE_BODY_BYTES = 10 * 1024 * 1024 + 64 * 1024
# Paths below which forms are as long as JSON may be, with a token.
PATHS_WITH_FORMS: list[str] = []
# Longer files are temporary files, so that they take no memory.
FILE_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
# The number of reverse proxies; the client's address is read that many hops back.
NUM_PROXIES = env.count("NUM_PROXIES", 0)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# What is installed besides the core; each is an app, in the order of their routes.
PLUGINS = env.plugins(
    "PLUGINS",
    [
        "plugins.history",
        "plugins.notices",
        "plugins.personal_data",
        "plugins.merging",
        "plugins.invitations",
        "plugins.bulk",
        "plugins.copying",
        "plugins.expense_filters",
        "plugins.tags",
        "plugins.attachments",
        "plugins.documents",
        "plugins.comments",
        "plugins.recurring",
        "plugins.saved_filters",
        "plugins.trip_list",
        "plugins.itinerary",
        "plugins.slow_statements",
        "plugins.statistics",
        "plugins.exchange",
        "plugins.sync",
        "plugins.webhooks",
        "plugins.mcp",
        "plugins.splitwise",
        "plugins.mapmyjourney",
        "plugins.polls",
        "plugins.calendar",
        "plugins.search",
        "plugins.messages",
        "plugins.rates",
        "plugins.pages",
        "plugins.public_keys",
        "plugins.demo",
        "plugins.support",
        "plugins.second_factor",
        "plugins.passkeys",
        "plugins.sign_in",
        "plugins.citus",
        "plugins.tracing",
        "plugins.metrics",
    ],
)
INSTALLED_APPS = [
    "users",
    "trips",
    "splits",
    "tripcompanion.mail",
    *PLUGINS,
    "tripcompanion.api",
    "tripcompanion.adminsite",
    "tripcompanion.database",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    # Whose devices a check in `users.log_in` looks for.
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "corsheaders",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "tripcompanion.api.middleware.RequestIds",
    "tripcompanion.api.middleware.ProtectiveHeaders",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "tripcompanion.api.middleware.Refusals",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "tripcompanion.api.middleware.RefuseControlCharacters",
    "django.middleware.common.CommonMiddleware",
    "tripcompanion.api.middleware.BodyLimits",
    "django.middleware.csrf.CsrfViewMiddleware",
    "users.log_in.LogInSteps",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

# Middlewares of plugins that come after the request ids and the protective headers.
IN_MIDDLEWARE: list[str] = []
# The module of prometheus_client, if something reads what the service measures.
INSTRUMENTS: list[str] = []
# Paths that are answered at once, by a connection of their own, however busy the server is.
NEVER_QUEUED: list[str] = []

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# -- Data -------------------------------------------------------------------------------------

DATABASE_URL = env.text("DATABASE_URL") or f"sqlite:///{DATA_DIR / 'db.sqlite3'}"
DATABASE_POOL_SIZE = env.count("DATABASE_POOL_SIZE", 4)
# The statement time-out in seconds; 0 means none. Only the server process sets it, since commands
# such as an audit may run longer than a request may.
DATABASE_TIMEOUT = env.count("DATABASE_TIMEOUT", env.NEVER, maximum=3600)
# If false, the ORM builds every query and DRF serializes every row, for each request.
COMPILED_QUERIES = env.boolean("COMPILED_QUERIES", True)
# With `transaction`, a pooler may run each transaction on another server connection, so nothing
# may outlive a transaction.
DATABASE_POOLER = env.choice("DATABASE_POOLER", "none", POOLERS)
# Whether PostgreSQL keeps statements prepared. The service detects poolers, which assign their own
# process ids, and requires that they support it if `DATABASE_POOLER` says that there is one.
DATABASE_PREPARE = env.boolean("DATABASE_PREPARE", DATABASE_POOLER == "none")
DATABASES = {
    "default": connection_settings(
        DATABASE_URL,
        pool_size=DATABASE_POOL_SIZE,
        timeout_seconds=DATABASE_TIMEOUT,
        prepare=DATABASE_PREPARE,
        pooler=DATABASE_POOLER,
    )
}

CACHE_URL = env.redis_url("CACHE_URL")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        # Django divides a text at commas, which a password may have.
        "LOCATION": [CACHE_URL],
        # A cache that hangs must not hang the service.
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    }
    if CACHE_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # While Redis is away.
    "local": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "local"},
}

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

# -- Accounts and tokens ----------------------------------------------------------------------

AUTH_USER_MODEL = "users.User"
PASSWORD_HASHERS = ["users.passwords.SmallServerArgon2"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "users.passwords.MaximumLengthValidator"},
    {"NAME": "users.passwords.GuessedFirstValidator"},
]
LOGIN_URL = "rest_framework:login"
LOGIN_REDIRECT_URL = "/api/trips"

ACCESS_TOKEN_LIFETIME = env.count("ACCESS_TOKEN_LIFETIME", 8 * 3600, minimum=1)
REFRESH_TOKEN_LIFETIME = env.count("REFRESH_TOKEN_LIFETIME", 30 * 24 * 3600, minimum=1)
JWT_SIGNING_KEY = env.text("JWT_SIGNING_KEY") or SECRET_KEY
# The first one signs and all verify: also the one that signed before, or that will sign next.
JWT_KEYS = [
    signing_key("JWT_SIGNING_KEY", JWT_SIGNING_KEY),
    *read_keys("JWT_VERIFYING_KEYS", env.words("JWT_VERIFYING_KEYS", [])),
]
SIMPLE_JWT: dict[str, Any] = {
    "ACCESS_TOKEN_LIFETIME": timedelta(seconds=ACCESS_TOKEN_LIFETIME),
    "REFRESH_TOKEN_LIFETIME": timedelta(seconds=REFRESH_TOKEN_LIFETIME),
    # users/tokens.py verifies with JWT_KEYS instead.
    "ALGORITHM": "HS256",
    "SIGNING_KEY": JWT_SIGNING_KEY,
    "ISSUER": "tripcompanion",
    "AUDIENCE": "tripcompanion",
    # For clock differences between servers; it applies to `iat` and `nbf`, not to `exp`.
    "LEEWAY": timedelta(seconds=30),
    "USER_ID_CLAIM": "sub",
}

# -- Mail -------------------------------------------------------------------------------------

# Without a mail server, mails wait in the outbox; in development they go to the terminal.
EMAIL_URL = env.mail_server("EMAIL_URL", "console://" if DEBUG else "")
globals().update(EMAIL_URL)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.sender("EMAIL_FROM", "Trip Companion <noreply@localhost>")
# The front end that links in mails lead to.
FRONTEND_URL = env.origin("FRONTEND_URL", "http://localhost:4200")
# Where this service is reached; mails contain links to unsubscribe.
PUBLIC_URL = env.origin("PUBLIC_URL", "http://localhost:8000")

# -- The API ----------------------------------------------------------------------------------

THROTTLE_RATES = {
    "login": env.rate("THROTTLE_LOGIN", "10/min"),
    "login_address": env.rate("THROTTLE_LOGIN_ADDRESS", "30/min"),
    "wrong_password": env.rate("THROTTLE_WRONG_PASSWORD", "20/hour"),
    "register": env.rate("THROTTLE_REGISTER", "20/hour"),
    "lookup": env.rate("THROTTLE_LOOKUP", "60/hour"),
    "refresh": env.rate("THROTTLE_REFRESH", "60/hour"),
    "mail": env.rate("THROTTLE_MAIL", "5/hour"),
    "export": env.rate("THROTTLE_EXPORT", "60/hour"),
    "user": env.rate("THROTTLE_USER", "600/min"),
    "anon": env.rate("THROTTLE_ANON", "60/min"),
}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "users.tokens.BearerAuthentication",
        "users.tokens.BrowserSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["users.permissions.IsUser"],
    "DEFAULT_PARSER_CLASSES": ["tripcompanion.api.parsing.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": [
        "tripcompanion.api.rendering.ExactJSONRenderer",
        "tripcompanion.api.rendering.BrowsableRenderer",
    ],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "tripcompanion.api.rendering.Negotiation",
    "DEFAULT_PAGINATION_CLASS": "tripcompanion.api.pagination.NumberedPages",
    "DEFAULT_THROTTLE_CLASSES": ["tripcompanion.api.throttling.CallerThrottle"],
    "DEFAULT_SCHEMA_CLASS": "tripcompanion.openapi.schema.ProblemAwareSchema",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_THROTTLE_RATES": THROTTLE_RATES,
    "NUM_PROXIES": NUM_PROXIES,
    "EXCEPTION_HANDLER": "tripcompanion.api.problems.exception_handler",
    "NON_FIELD_ERRORS_KEY": "nonFieldErrors",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "TEST_REQUEST_RENDERER_CLASSES": ["tripcompanion.api.rendering.ExactJSONRenderer"],
}

#: How many days deleted expenses and settlements can be restored, and deleted trips.
DELETED_ENTRY_DAYS = env.count("DELETED_ENTRY_DAYS", 30, minimum=1, maximum=36_500)
DELETED_TRIP_DAYS = env.count("DELETED_TRIP_DAYS", 7, minimum=1, maximum=36_500)

# Quotas; exceeding one is a 409 `limit_reached`.
QUOTA_TRIPS = env.count("QUOTA_TRIPS", 1000, minimum=1)
QUOTA_CHANGES = env.count("QUOTA_CHANGES", 20_000, minimum=1)
QUOTA_MEMBERS = env.count("QUOTA_MEMBERS", 200, minimum=1)
QUOTA_EXPENSES = env.count("QUOTA_EXPENSES", 10_000, minimum=1)

SPECTACULAR_SETTINGS = {
    "TITLE": "Trip Companion",
    "DESCRIPTION": description.DESCRIPTION,
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.0",
    "LICENSE": {"name": "MIT", "identifier": "MIT"},
    "CONTACT": {"name": "Trip Companion contributors"},
    "SERVERS": [{"url": "/", "description": "The server that this document comes from."}],
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "/favicon.svg",
    "SWAGGER_UI_SETTINGS": {
        "deepLinking": True,
        "displayRequestDuration": True,
        # Authorized tokens stay in the browser's local storage over a reload.
        "persistAuthorization": True,
    },
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api",
    # `urls.py` is in reading order.
    "SORT_OPERATIONS": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": description.ENUM_NAMES,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "tripcompanion.openapi.description.add_tags",
        "tripcompanion.openapi.schema_hooks.finish_document",
        "tripcompanion.openapi.examples.add_examples",
        "tripcompanion.openapi.description.describe",
    ],
}

CORS_URLS_REGEX = r"^/api(/|$)"
CORS_ALLOWED_ORIGINS = env.origins(
    "CORS_ALLOWED_ORIGINS", ["http://localhost:4200", "http://localhost:3000"]
)
# In development, also pages that are served on any port of this machine.
CORS_ALLOWED_ORIGIN_REGEXES = [r"^https?://(localhost|127\.0\.0\.1)(:[0-9]+)?$"] if DEBUG else []
CORS_ALLOW_HEADERS = [
    "authorization",
    "content-type",
    "accept-language",
    "idempotency-key",
    "if-match",
    "if-none-match",
    "prefer",
    "x-app-client",
]
CORS_EXPOSE_HEADERS = [
    "deprecation",
    "sunset",
    "etag",
    "location",
    "retry-after",
    "idempotency-replayed",
    "content-disposition",
    "preference-applied",
    "ratelimit",
    "ratelimit-policy",
    "x-request-id",
]

# -- Languages and time -----------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", gettext_lazy("English")), ("es", gettext_lazy("Spanish"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"

# -- Browser-facing pages: admin site, docs, browsable API -------------------------------------

STATIC_URL = "/static/"
# Served from the installed packages, without collectstatic.
WHITENOISE_USE_FINDERS = True
# Files that are served at the root: `/favicon.ico`.
WHITENOISE_ROOT = BASE_DIR / "tripcompanion" / "api" / "public"
CSRF_FAILURE_VIEW = "tripcompanion.api.error_views.csrf_failure"
CSRF_TRUSTED_ORIGINS = env.origins("CSRF_TRUSTED_ORIGINS", [])
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not DEBUG
# Browsers remember it for a year, so it is off until HTTPS is known to work. It covers this host
# only: subdomains and the preload list are for the owner of the domain to decide.
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if env.boolean("HSTS", False) else 0
# TLS ends at the proxy, and a redirect would drop the body of a POST sent over HTTP. SQLite ignores
# which columns an index includes.
SILENCED_SYSTEM_CHECKS = [
    *("security.W004", "security.W005", "security.W008", "security.W021"),
    "models.W040",
]
if NUM_PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
X_FRAME_OPTIONS = "DENY"

LOG_LEVEL = env.choice("LOG_LEVEL", "WARNING", env.LOG_LEVELS)
LOG_FORMAT = env.choice("LOG_FORMAT", log_format(DEBUG), FORMATS)
LOGGING = logging_settings(LOG_LEVEL, LOG_FORMAT)

# -- Plugins ----------------------------------------------------------------------------------

env.add_plugins(PLUGINS, globals())
_place = 1 + MIDDLEWARE.index("tripcompanion.api.middleware.ProtectiveHeaders")
MIDDLEWARE[_place:_place] = IN_MIDDLEWARE

env.warn_of_misspelt()
