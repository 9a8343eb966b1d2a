"""Every knob of the service. Values come from the environment or `.env`; defaults fit a laptop."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
from django.utils.translation import gettext_lazy as _
from dotenv import load_dotenv

from tripcompanion import environment as env
from tripcompanion.kit.logs import FORMATS, log_format, logging_settings

BASE_DIR = Path(__file__).resolve().parent.parent
load_dotenv(BASE_DIR / ".env")

# -- Process ----------------------------------------------------------------------------------

DEBUG = env.boolean("DEBUG", False)
SECRET_KEY = env.secret_key(DEBUG)
ALLOWED_HOSTS = env.hosts("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
ROOT_URLCONF = "tripcompanion.urls"
WSGI_APPLICATION = "tripcompanion.wsgi.application"
APPEND_SLASH = False
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
# Reverse proxies in front of the service; the client's address is read that many hops back.
NUM_PROXIES = env.count("NUM_PROXIES", 0)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "users",
    "trips",
    "splits",
    "tripcompanion.kit",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "corsheaders",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "tripcompanion.kit.request_ids.RequestIds",
    "tripcompanion.kit.headers.ProtectiveHeaders",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "tripcompanion.kit.browsers.Sessions",
    "tripcompanion.kit.languages.Languages",
    "tripcompanion.kit.characters.RefuseControlCharacters",
    "django.middleware.common.CommonMiddleware",
    "tripcompanion.kit.bodies.BodyLimits",
    "django.middleware.csrf.CsrfViewMiddleware",
    "tripcompanion.kit.browsers.LogIns",
    "tripcompanion.kit.browsers.Messages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

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

DATABASE_URL = env.text("DATABASE_URL") or f"sqlite:///{BASE_DIR / 'db.sqlite3'}"
DATABASE_POOL_SIZE = env.count("DATABASE_POOL_SIZE", 4)
# Seconds that one statement may take; 0 is without end. The server process sets it, commands do
# not: an audit may take longer than anybody would wait for an answer.
DATABASE_TIMEOUT = env.count("DATABASE_TIMEOUT", env.NEVER, maximum=3600)
try:
    _database: dict[str, Any] = dict(dj_database_url.parse(DATABASE_URL))
    _vendor = _database["ENGINE"].rpartition(".")[2]
except (ValueError, dj_database_url.UnknownSchemeError):
    _vendor = ""
if _vendor not in {"sqlite3", "postgresql"}:
    env.refuse("DATABASE_URL must look like postgres://user:password@host:5432/name.")
# To connect takes longer than to read. These backends notice that the server has gone, or that the
# file is another.
_database |= {
    "ENGINE": f"tripcompanion.kit.{_vendor}",
    "CONN_MAX_AGE": None if DATABASE_POOL_SIZE else 0,
    "CONN_HEALTH_CHECKS": True,
}
if _vendor == "sqlite3":
    # As with Django's own; pytest-django would make a file, not knowing this one.
    _database["TEST"] = {"NAME": ":memory:"}
    # Without IMMEDIATE a transaction that reads before it writes dies with "database is locked".
    _database["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
    }
else:
    # psycopg prepares nothing by itself, as Django has it: with names of its own it would have the
    # server forget all of them at each rollback, those of `tripcompanion.kit.postgresql` too.
    # Django's `server_side_binding` stays off: it sends a number in an expression as 32 bits, and
    # cuts off what does not fit.
    _database["OPTIONS"] = _database.get("OPTIONS", {}) | {
        "connect_timeout": 3,
        # A peer that vanishes without a word is given up after a minute, by commands too.
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": 60_000,
    }
    if DATABASE_TIMEOUT:
        # A server that is stopped, or lost behind a proxy, ends nothing. So the client waits a
        # little longer than the server lets a statement run, and then closes the connection.
        _database["OPTIONS"]["wait_seconds"] = DATABASE_TIMEOUT + 1
        # A lock is waited for shortly, and who dies inside a transaction gives its locks back.
        _database["OPTIONS"]["options"] = (
            # To compile a statement mostly takes PostgreSQL longer than to run it.
            f"-c jit=off -c statement_timeout={DATABASE_TIMEOUT}s"
            f" -c lock_timeout={min(DATABASE_TIMEOUT, 2)}s"
            " -c idle_in_transaction_session_timeout=10s"
        )
DATABASES = {"default": _database}

CACHE_URL = env.text("CACHE_URL")
if CACHE_URL and not CACHE_URL.startswith(("redis://", "rediss://")):
    env.refuse("CACHE_URL must look like redis://host:6379/0.")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": CACHE_URL,
        # A cache that hangs must not hang the service.
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    }
    if CACHE_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}

# -- Accounts and tokens ----------------------------------------------------------------------

AUTH_USER_MODEL = "users.User"
PASSWORD_HASHERS = ["users.hashers.SmallServerArgon2"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "users.passwords.MaximumLengthValidator"},
    {"NAME": "users.passwords.GuessedFirstValidator"},
]
LOGIN_URL = "rest_framework:login"
LOGIN_REDIRECT_URL = "/api/trips"

ACCESS_TOKEN_LIFETIME = env.count("ACCESS_TOKEN_LIFETIME", 8 * 3600, minimum=1)
REFRESH_TOKEN_LIFETIME = env.count("REFRESH_TOKEN_LIFETIME", 30 * 24 * 3600, minimum=1)
_jwt_key = env.text("JWT_SIGNING_KEY")
JWT_SIGNING_KEY = env.strong("JWT_SIGNING_KEY", _jwt_key) if _jwt_key else SECRET_KEY
SIMPLE_JWT = {
    "ACCESS_TOKEN_LIFETIME": timedelta(seconds=ACCESS_TOKEN_LIFETIME),
    "REFRESH_TOKEN_LIFETIME": timedelta(seconds=REFRESH_TOKEN_LIFETIME),
    "ALGORITHM": "HS256",
    "SIGNING_KEY": JWT_SIGNING_KEY,
    "ISSUER": "tripcompanion",
    "AUDIENCE": "tripcompanion",
    # Clocks of two servers may differ; the leeway is for `iat` and `nbf`, never for `exp`.
    "LEEWAY": timedelta(seconds=30),
    "USER_ID_CLAIM": "sub",
}

# -- Mail -------------------------------------------------------------------------------------

# Without a server the mails wait in the outbox; in development they are shown on the terminal.
EMAIL_URL = env.mail_server("EMAIL_URL", "console://" if DEBUG else "")
globals().update(EMAIL_URL)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.sender("EMAIL_FROM", "Trip Companion <noreply@localhost>")
# The front end that links in mails lead to.
FRONTEND_URL = env.origin("FRONTEND_URL", "http://localhost:4200")
REQUIRE_VERIFIED_EMAIL = env.boolean("REQUIRE_VERIFIED_EMAIL", False)

# -- The API ----------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "users.tokens.ScopedTokenAuthentication",
        "users.tokens.BearerAuthentication",
        "users.tokens.BrowserSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["users.permissions.IsUser"],
    "DEFAULT_PARSER_CLASSES": ["tripcompanion.kit.parsing.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": [
        "tripcompanion.kit.rendering.ExactJSONRenderer",
        "tripcompanion.kit.rendering.BrowsableRenderer",
    ],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "tripcompanion.kit.rendering.Negotiation",
    "DEFAULT_PAGINATION_CLASS": "tripcompanion.kit.pagination.NumberedPages",
    "DEFAULT_THROTTLE_CLASSES": ["tripcompanion.kit.throttling.CallerThrottle"],
    "DEFAULT_SCHEMA_CLASS": "tripcompanion.kit.schema.ProblemAwareSchema",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_THROTTLE_RATES": {
        "login": env.rate("THROTTLE_LOGIN", "10/min"),
        "login_address": env.rate("THROTTLE_LOGIN_ADDRESS", "30/min"),
        "register": env.rate("THROTTLE_REGISTER", "20/hour"),
        "lookup": env.rate("THROTTLE_LOOKUP", "60/hour"),
        "refresh": env.rate("THROTTLE_REFRESH", "60/hour"),
        "mail": env.rate("THROTTLE_MAIL", "5/hour"),
        "export": env.rate("THROTTLE_EXPORT", "10/hour"),
        "user": env.rate("THROTTLE_USER", "600/min"),
        "anon": env.rate("THROTTLE_ANON", "60/min"),
    },
    "NUM_PROXIES": NUM_PROXIES,
    "EXCEPTION_HANDLER": "tripcompanion.kit.problems.exception_handler",
    "NON_FIELD_ERRORS_KEY": "nonFieldErrors",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "TEST_REQUEST_RENDERER_CLASSES": ["tripcompanion.kit.rendering.ExactJSONRenderer"],
}

# How much there may be of something; one more is 409 `limit_reached`.
QUOTA_TRIPS = env.count("QUOTA_TRIPS", 1000, minimum=1)
QUOTA_MEMBERS = env.count("QUOTA_MEMBERS", 200, minimum=1)
QUOTA_EXPENSES = env.count("QUOTA_EXPENSES", 10_000, minimum=1)

SPECTACULAR_SETTINGS = {
    "TITLE": "Trip Companion",
    "DESCRIPTION": (
        "Accounts, trips with members and roles, shared expenses, and who still owes what. "
        "Errors are `application/problem+json` (RFC 9457); amounts are exact JSON numbers; "
        "identifiers are 64-bit integers. No path ends with a slash."
    ),
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "AccountRole": "users.models.Role",
        "TripRole": "trips.models.trip.ROLE_CHOICES",
        "JoinRole": "trips.models.trip.JOIN_ROLE_CHOICES",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "tripcompanion.kit.document.finish_document",
    ],
}

CORS_URLS_REGEX = r"^/api(/|$)"
CORS_ALLOWED_ORIGINS = env.origins(
    "CORS_ALLOWED_ORIGINS", ["http://localhost:4200", "http://localhost:3000"]
)
CORS_ALLOW_HEADERS = [
    "authorization",
    "content-type",
    "accept-language",
    "idempotency-key",
    "if-match",
    "if-none-match",
    "x-app-client",
]
CORS_EXPOSE_HEADERS = [
    "etag",
    "location",
    "retry-after",
    "idempotency-replayed",
    "ratelimit",
    "ratelimit-policy",
    "x-request-id",
]

# -- Languages and time -----------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("es", _("Spanish"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

# -- Browser-facing pages: admin site, docs, browsable API -------------------------------------

STATIC_URL = "/static/"
# Straight from the installed packages: no build step, no copy that could be stale.
WHITENOISE_USE_FINDERS = True
CSRF_FAILURE_VIEW = "tripcompanion.kit.problems.csrf_failure"
CSRF_TRUSTED_ORIGINS = env.origins("CSRF_TRUSTED_ORIGINS", [])
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not DEBUG
SECURE_HSTS_SECONDS = 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True
# TLS ends at the proxy, and a redirect would drop the body of a POST that was sent in the clear.
SILENCED_SYSTEM_CHECKS = ["security.W008"]
if NUM_PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
X_FRAME_OPTIONS = "DENY"

LOG_LEVEL = env.choice("LOG_LEVEL", "WARNING", env.LOG_LEVELS)
LOG_FORMAT = env.choice("LOG_FORMAT", log_format(DEBUG), FORMATS)
LOGGING = logging_settings(LOG_LEVEL, LOG_FORMAT)
