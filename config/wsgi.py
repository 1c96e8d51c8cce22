"""The WSGI application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

from config.server.frames import with_room

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")

application = with_room(get_wsgi_application())
