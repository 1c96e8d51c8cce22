"""The routes of the web pages."""

from django.urls import URLPattern, URLResolver

app_name = "frontend"
urlpatterns: list[URLPattern | URLResolver] = []
