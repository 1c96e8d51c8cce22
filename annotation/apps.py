"""The domain: the only app with tables."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Registers the models under the label "annotation", and the system checks."""

    name = "annotation"
    label = "annotation"
    verbose_name = "Tristep"

    def ready(self) -> None:
        from annotation import checks  # noqa: F401  (registers itself)
