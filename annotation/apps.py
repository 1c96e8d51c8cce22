"""The domain: the only app with tables."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Registers the models under the label "annotation"."""

    name = "annotation"
    label = "annotation"
    verbose_name = "Tristep"
