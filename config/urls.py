"""The routes of the site: health, Django's admin, the REST API and the pages."""

from allauth.account.decorators import secure_admin_login
from django.conf import settings
from django.contrib import admin
from django.urls import include, path

from config.health import healthz
from config.public_demo.pages import enter

# one page to sign in on, which asks for the second factor
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    # in the place of the page to sign in on
    *([path("sign-in/", enter, name="public-demo")] if settings.PUBLIC_DEMO else ()),
    path("healthz", healthz, name="healthz"),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("api/v1/", include("api.urls")),
    path("", include("frontend.urls")),
]

handler400 = "config.handlers.bad_request"
handler403 = "config.handlers.forbidden"
handler404 = "config.handlers.not_found"
handler500 = "config.handlers.server_error"
