"""The page at `/`: what the service is, and where everything else is."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import get_language, get_language_info, override
from django.utils.translation import gettext as _

from tripcompanion.api.error_views import ProblemView

#: The page has no script and no form, and loads its style sheet and icon only.
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class LandingPage(ProblemView):
    """The landing page; `?lang=` overrides `Accept-Language`."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest) -> HttpResponse:
        language = request.GET.get("lang")
        if language not in dict(settings.LANGUAGES):
            language = get_language() or settings.LANGUAGE_CODE
        with override(language):
            page = render_to_string("pages/landing.html", _context(language))
        headers = {"Content-Security-Policy": _POLICY, "Content-Language": language}
        return HttpResponse(page, headers=headers)


def _context(language: str) -> dict[str, Any]:
    return {
        "language": language,
        "other_languages": [
            (code, get_language_info(code)["name_local"].capitalize())
            for code, _name in settings.LANGUAGES
            if code != language
        ],
        "title": settings.SPECTACULAR_SETTINGS["TITLE"],
        "version": _("Version %(number)s") % {"number": settings.SPECTACULAR_SETTINGS["VERSION"]},
        "lead": _("Plan trips together, share what they cost, and see who owes whom."),
        "about": _(
            "This is a REST API for accounts, trips with their members, and the money that members "
            "spend for each other. Front ends, scripts and generated clients use it with JSON."
        ),
        # Paths with their names, and what they lead to.
        "links": [
            (
                "/api/docs",
                _("API documentation"),
                _("Every endpoint, with examples that you can send from the page."),
            ),
            ("/api", _("Browsable API"), _("The API as web pages: log in and follow the links.")),
            (
                "/api/schema",
                _("OpenAPI document"),
                _("For client generators and other tools, as YAML or JSON."),
            ),
            ("/admin", _("Admin site"), _("For administrators.")),
            ("/api/health", _("Health"), _("Whether the service is running.")),
        ],
    }
