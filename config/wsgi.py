"""The WSGI application that gunicorn serves."""

import os

from config.server.frames import with_room
from config.server.loading import loading

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")

with loading():
    from django.core.wsgi import get_wsgi_application
    from django.urls import get_resolver

    application = with_room(get_wsgi_application())
    # all pages, for which the first visitor would wait
    _ = get_resolver().url_patterns
