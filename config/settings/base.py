"""The settings, for every deployment: what differs between deployments comes from the environment.

The variables are listed in docs/operations.md.
"""

import os
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

from annotation.core.trajectories import limits
from config import csp, languages, logs
from config import env as reading
from config.settings import files, organisation

PUBLIC_DEMO = reading.Env().flag("TRISTEP_PUBLIC_DEMO")
env = reading.Env(reading.of_public_demo(os.environ) if PUBLIC_DEMO else None)

TRISTEP_VERSION = "0.1.0"

# ── Places ────────────────────────────────
BASE_DIR = Path(__file__).resolve().parents[2]
DATA_DIR = env.path("TRISTEP_DATA_DIR", BASE_DIR / "var", base=BASE_DIR)
# What relative paths are relative to: the checkout, and of a wheel (config/wheel.py) the data.
PATHS_FROM = DATA_DIR if (BASE_DIR / "__init__.py").exists() else BASE_DIR
UPLOAD_DIR = DATA_DIR / "uploads"
EXPORT_DIR = DATA_DIR / "exports"
FILE_UPLOAD_TEMP_DIR = str(UPLOAD_DIR / "arriving")
MIN_FREE_BYTES = env.number("TRISTEP_MIN_FREE_BYTES", reading.MIN_FREE_BYTES, minimum=0)
reading.make_folders("TRISTEP_DATA_DIR", DATA_DIR, UPLOAD_DIR, EXPORT_DIR, Path(FILE_UPLOAD_TEMP_DIR))

# ── Security ──────────────────────────────
DEBUG = env.flag("TRISTEP_DEBUG")
SECRET_KEY = env.text("TRISTEP_SECRET_KEY") or reading.secret_key(DATA_DIR / "secret.key")
# The key that signs releases; the file is made on first use. Beside it, the public keys of before.
RELEASE_KEY = env.text("TRISTEP_RELEASE_KEY")
RELEASE_KEY_FILE = DATA_DIR / "release.key"
RELEASE_KEYS_DIR = env.path("TRISTEP_RELEASE_KEYS_DIR", DATA_DIR / "release-keys", base=BASE_DIR)
SECRET_KEY_FALLBACKS = env.words("TRISTEP_OLD_SECRET_KEYS")
ALLOWED_HOSTS = env.words("TRISTEP_ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
# Trusted proxies in front of the server; 0 means that visitors connect to it directly.
PROXY_HOPS = env.number("TRISTEP_PROXY_HOPS", 0)

HTTPS = env.flag("TRISTEP_HTTPS")
CSRF_TRUSTED_ORIGINS = env.words("TRISTEP_TRUSTED_ORIGINS")
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = env.number("TRISTEP_HSTS_SECONDS", 31_536_000) if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
# A list in browsers that a domain leaves only after months: its owner must ask for it (security.W021 would).
SECURE_HSTS_PRELOAD = HTTPS and env.flag("TRISTEP_HSTS_PRELOAD")
SILENCED_SYSTEM_CHECKS = ["security.W021"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PROXY_HOPS else None
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = int(timedelta(days=14).total_seconds())
CSRF_FAILURE_VIEW = "frontend.pages.shared.errors.csrf_failure"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {"DIRECTIVES": csp.DIRECTIVES}

SESSION_ENGINE = "config.sessions"

# ── The server ────────────────────────────
INSTALLED_APPS = [
    "config.apps.InstanceConfig",
    # before ours, whose admin takes theirs out
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.mfa",
    "annotation.apps.AnnotationConfig",
    "frontend.apps.FrontendConfig",
    "api.apps.ApiConfig",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "axes",
    "csp",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "config.server.limits.PlainAddress",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.compression.Compression",
    "config.csp.PolicyMiddleware",
    "frontend.middleware.Private",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    # before the check of the CSRF token, which reads the body
    "config.server.limits.BodyLimit",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "frontend.middleware.Preferences",
    "frontend.middleware.SecondFactor",
    "frontend.middleware.FormAddresses",
    "frontend.middleware.ProblemPages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # last, as axes asks: it turns a locked-out sign-in into a response
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "frontend.context.theme",
                "frontend.context.languages",
                "frontend.context.notices",
                "frontend.context.public_demo",
            ],
        },
    },
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [],
        "APP_DIRS": True,
        "OPTIONS": {"environment": "frontend.rendering.jinja.environment"},
    },
]

# ── Data ──────────────────────────────────
DATABASES = {
    "default": reading.database(
        env.text("DATABASE_URL", f"sqlite:///{quote(str(DATA_DIR / 'db.sqlite3'))}"),
        base=PATHS_FROM,
        password=env.text("TRISTEP_DATABASE_PASSWORD"),
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# A file comes in on disk, not in memory; everything else a request carries is small.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
FILE_UPLOAD_PERMISSIONS = 0o600
DATA_UPLOAD_MAX_MEMORY_SIZE = env.number("TRISTEP_MAX_BODY_BYTES", 8 * 1024**2)
ANONYMOUS_BODY_BYTES = 64 * 1024
MAX_UPLOAD_BYTES = env.number("TRISTEP_MAX_UPLOAD_BYTES", 256 * 1024**2)
# What one trajectory may hold: beyond it an import is refused.
MAX_RECORD_BYTES = env.number("TRISTEP_MAX_RECORD_BYTES", 16 * 1024**2, minimum=1024)
TRAJECTORY_LIMITS = limits.Limits(
    **{
        name: env.number(limits.variable(name), default, minimum=1)
        for name, default in limits.DEFAULTS.items()
    }
)
MEDIA_ROOT = UPLOAD_DIR

# ── People ────────────────────────────────
AUTH_USER_MODEL = "annotation.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "config.sign_in.Throttle",
    "config.sign_in.LocalAccounts",
    "django.contrib.auth.backends.ModelBackend",
    "frontend.pages.second_factor.stage.CodeBackend",
    "config.sign_in.CountFailure",
]
PASSWORD_HASHERS = [
    "config.sign_in.Argon2",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": name}
    for name in (
        "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "django.contrib.auth.password_validation.MinimumLengthValidator",
        "django.contrib.auth.password_validation.CommonPasswordValidator",
        "django.contrib.auth.password_validation.NumericPasswordValidator",
        "config.sign_in.Variety",
        "config.sign_in.TokensEnd",
    )
]
# Sign-in through an organisation (OpenID Connect); None: there is none.
ORGANISATION = organisation.read(env)
# The forms of allauth that pages here use; accounts, addresses and passwords stay with our own pages.
ACCOUNT_ADAPTER = "frontend.pages.organisation.accounts.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*"]
ACCOUNT_RATE_LIMITS = {"login_failed": "5/300s/key"}
SOCIALACCOUNT_ADAPTER = "frontend.pages.organisation.adapter.OrganisationAdapter"
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True}}

# Second factors: an app with codes, passkeys, recovery codes.
MFA_ADAPTER = "frontend.pages.second_factor.adapter.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
# our pages ask for the password themselves
MFA_REAUTHENTICATION_REQUIRED = False
MFA_TOTP_TOLERANCE = 1
SECOND_FACTOR_ADMINS = env.flag("TRISTEP_SECOND_FACTOR_ADMINS")

LOGIN_URL = "frontend:sign-in"
LOGIN_REDIRECT_URL = "frontend:home"
LOGOUT_REDIRECT_URL = "frontend:sign-in"

# One name from one address: neither a shared office nor a guessed name locks anybody else out.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = env.number("TRISTEP_SIGN_IN_FAILURES", 8, minimum=1)
# Whatever the name: wrong passwords from one address in 15 minutes, and in all in a minute.
SIGN_IN_FAILURES_ADDRESS = env.number("TRISTEP_SIGN_IN_FAILURES_ADDRESS", 50, minimum=1)
SIGN_IN_FAILURES_TOTAL = env.number("TRISTEP_SIGN_IN_FAILURES_TOTAL", 300, minimum=1)
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_CLIENT_IP_CALLABLE = "config.client.client_ip"
AXES_USERNAME_CALLABLE = "config.sign_in.tried_name"
AXES_LOCKOUT_CALLABLE = "frontend.pages.shared.errors.locked_out"
AXES_VERBOSE = False

# ── Mail (optional: without a server an admin hands over reset links) ──
MAIL_ENABLED = bool(env.text("TRISTEP_EMAIL_URL"))
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
if MAIL_ENABLED:
    globals().update(reading.email(env.text("TRISTEP_EMAIL_URL")))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.text("TRISTEP_EMAIL_FROM", "tristep@localhost")

# ── Language and time ─────────────────────
LANGUAGE_CODE = "en"
LANGUAGES = languages.offered(BASE_DIR / "frontend" / "locale")
USE_I18N = True
FORMAT_MODULE_PATH = ["frontend.formats"]
USE_TZ = True
TIME_ZONE = env.zone("TRISTEP_TIME_ZONE")

# ── Static files ──────────────────────────
STATIC_URL = "/static/"
STATIC_ROOT = env.path("TRISTEP_STATIC_DIR", DATA_DIR / "static", base=PATHS_FROM)
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "frontend.stylesheets.StylesheetFinder",
]
STORAGES = {
    # the bytes of imports until they have ended
    "default": files.read(env),
    "staticfiles": {"BACKEND": "config.static.HashedStaticFiles"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = False

# ── Broker and cache ──────────────────────
REDIS_URL = reading.redis(env.text("REDIS_URL"), env.text("TRISTEP_REDIS_PASSWORD"))
CACHES = {
    "default": (
        {
            "BACKEND": "config.cache.TolerantRedisCache",
            "LOCATION": REDIS_URL,
            "KEY_PREFIX": "tristep",
            "OPTIONS": {
                "socket_connect_timeout": 1,
                "socket_timeout": 1,
                "serializer": "config.cache.SignedJSON",
            },
        }
        if REDIS_URL
        else {"BACKEND": "config.cache.LocalCache", "LOCATION": "tristep"}
    )
}
# Without REDIS_URL nothing can be enqueued; the job rows wait for a worker that `make run` starts.
CELERY_BROKER_URL = reading.broker(REDIS_URL) if REDIS_URL else "memory://"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # A killed worker's message comes back after this; the job row's lease is what really recovers it.
    "visibility_timeout": 3600,
    "socket_connect_timeout": 2,
    "global_keyprefix": "tristep.",
    "max_retries": 1,
}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "tristep"
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = env.number("TRISTEP_WORKER_THREADS", 4, minimum=1)
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TIMEZONE = TIME_ZONE
# How often a worker looks for jobs whose worker died, or that were never sent.
REAP_SECONDS = env.number("TRISTEP_REAP_SECONDS", 15, minimum=1)

# ── Outside servers ───────────────────────
# The private networks that the names of outside servers may lead into (annotation/outside/networks.py).
PRIVATE_NETWORKS = env.networks("TRISTEP_PRIVATE_NETWORKS")

# ── Judges ────────────────────────────────
# The servers that judges may ask, and the variables beside TRISTEP_JUDGE_KEY_… that may hold their keys.
JUDGE_URLS = env.words("TRISTEP_JUDGE_URLS")
JUDGE_KEYS = env.words("TRISTEP_JUDGE_KEYS")
# Runs of judges that one worker process does at a time; each has threads of its own.
JUDGE_RUNS = env.number("TRISTEP_JUDGE_RUNS", 4, minimum=1)

# ── Webhooks ──────────────────────────────
# The beginnings of the addresses that webhooks may have; apart from the judges', who are shown trajectories.
WEBHOOK_URLS = env.words("TRISTEP_WEBHOOK_URLS")
# Where people reach this Tristep (https://tristep.example.org); without it the links in events are paths.
PUBLIC_ADDRESS = env.text("TRISTEP_PUBLIC_ADDRESS")

# ── Connections ───────────────────────────
# The servers that projects pull from and push to, and variables with keys beside TRISTEP_CONNECTION_KEY_….
CONNECTION_URLS = env.words("TRISTEP_CONNECTION_URLS")
CONNECTION_KEYS = env.words("TRISTEP_CONNECTION_KEYS")

# ── REST ──────────────────────────────────
REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["api.renderers.StrictJSON"],
    "DEFAULT_PARSER_CLASSES": ["api.parsers.StrictJSON"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "api.authentication.TokenAuthentication",
        "api.authentication.SessionAuthentication",
    ],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "api.renderers.AlwaysJSON",
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PAGINATION_CLASS": "api.pagination.Pages",
    "DEFAULT_SCHEMA_CLASS": "api.schema.Schema",
    "DEFAULT_THROTTLE_CLASSES": [
        "api.throttling.ByAddress",
        "api.throttling.ByPerson",
        "api.throttling.ByScope",
    ],
    "DEFAULT_THROTTLE_RATES": {
        "anon": env.rate("TRISTEP_THROTTLE_ANON", "60/min"),
        "user": env.rate("TRISTEP_THROTTLE_USER", "1200/min"),
        "costly": env.rate("TRISTEP_THROTTLE_COSTLY", "30/min"),
        "crowd": env.rate("TRISTEP_THROTTLE_CROWD", "20/min"),
        "sign_in": env.rate("TRISTEP_THROTTLE_SIGN_IN", "60/min"),
        "public": env.rate("TRISTEP_THROTTLE_PUBLIC", "120/min"),
        "public_files": env.rate("TRISTEP_THROTTLE_PUBLIC_FILES", "30/min"),
    },
    "EXCEPTION_HANDLER": "api.errors.exception_handler",
    "NUM_PROXIES": PROXY_HOPS,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Tristep",
    "DESCRIPTION": "Build a step-level benchmark of tool-using LLM agents: import, label, adjudicate,"
    " release.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    # Enums stay where they are used: four different things of ours have a field called "state".
    "POSTPROCESSING_HOOKS": [],
}

# ── The public demo (`tristep serve --demo-only`) ──
if PUBLIC_DEMO:
    DATABASES["default"] |= {"ENGINE": "config.public_demo", "CONN_MAX_AGE": 0}
    CACHES["default"]["KEY_FUNCTION"] = "config.public_demo.visits.cache_key"
    MIDDLEWARE.insert(MIDDLEWARE.index("frontend.middleware.Private"), "config.public_demo.middleware.Visits")

# ── Logs ──────────────────────────────────
LOGGING = logs.settings(env.level("TRISTEP_LOG_LEVEL"))
