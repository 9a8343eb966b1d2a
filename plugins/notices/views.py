"""The page that turns off the notices of an account, without a log-in."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.decorators import method_decorator
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import NotFound

from plugins.notices.unsubscribing import account_of, turn_off_notices
from tripcompanion.api.error_views import ProblemView, not_found

#: The page runs no scripts and loads only its style sheet, and its form leads back to it.
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


@method_decorator(csrf_exempt, name="dispatch")
class UnsubscribePage(ProblemView):
    """The page that links in mails with notices open: the signed `?token=` is all that it needs.

    Mail programs send a POST without a cookie (RFC 8058), so there is no CSRF token; the body of
    the POST does not matter. A GET only asks, because mail scanners open all links.
    """

    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._answer(request, is_done=False)

    def post(self, request: HttpRequest) -> HttpResponse:
        return self._answer(request, is_done=True)

    def _answer(self, request: HttpRequest, *, is_done: bool) -> HttpResponse:
        try:
            account = account_of(request.GET.get("token", ""))
            if is_done:
                turn_off_notices(account)
        except NotFound:
            return not_found(request)
        language = get_language() or settings.LANGUAGE_CODE
        texts = {"title": _("E-mails about your trips"), "language": language}
        if is_done:
            texts["lead"] = _("You will get no more of these e-mails.")
            texts["note"] = _("You can turn them on again in the settings of your account.")
        else:
            texts["lead"] = _("Do you want no more e-mails about your trips?")
            texts["button"] = _("Send me no more of these e-mails")
        page = render_to_string("notices/unsubscribe.html", texts)
        headers = {"Content-Security-Policy": _POLICY, "Content-Language": language}
        return HttpResponse(page, headers=headers)
