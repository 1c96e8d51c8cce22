"""The script of a page: an ES module, with all that it imports."""

from __future__ import annotations

from django import template
from django.contrib.staticfiles.storage import staticfiles_storage
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from frontend.scripts import SITE, in_order

register = template.Library()


@register.simple_tag
def module(name: str = SITE) -> SafeString:
    """`{% module "workbench/main" %}`: the script; without a name, that of every page.

    Where modules are not collected into one file, all that it imports is named in advance: otherwise a
    browser learns of a module only when the one that imports it has come.
    """
    apart = () if getattr(staticfiles_storage, "joins_modules", False) else in_order(name)[:-1]
    hints = format_html_join(
        "",
        '<link rel="modulepreload" href="{}">',
        ((static(f"frontend/js/{one}.js"),) for one in apart),
    )
    return hints + format_html('<script type="module" src="{}"></script>', static(f"frontend/js/{name}.js"))
