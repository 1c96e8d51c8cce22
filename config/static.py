"""Storage of the collected static files: hashed names, compressed, served as immutable."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    """Rewrites `import` statements of ES modules too, so that a hashed module imports hashed modules."""

    support_js_module_import_aggregation = True
