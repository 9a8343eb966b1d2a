"""The pages of the second factor, which look like the admin site."""

from collections.abc import Sequence
from typing import Any

import segno
from django.contrib import admin, messages
from django.contrib.auth.views import RedirectURLMixin, redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.generic import TemplateView
from django_otp.plugins.otp_totp.models import default_key
from rest_framework.exceptions import NotAuthenticated

from plugins.second_factor.forms import CodeForm, PasswordForm, SetUpForm
from plugins.second_factor.log_in import complete
from plugins.second_factor.models import AuthenticatorApp, RecoveryCodes, in_groups
from users.browser_views import LimitedForm
from users.log_in import half_authenticated

#: The session's key for the salt of the app that is being set up.
_NEW_KEY = "second_factor_key"


class AdminPage(TemplateView):
    """A page with texts, and links as pairs of URL and label."""

    template_name = "admin/second_factor.html"
    title: Any = gettext_lazy("Second factor")
    lines: Sequence[Any] = ()

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        shown = {"title": self.title, "half_authenticated": half_authenticated(self.request)}
        shown |= {"lines": self.lines} | admin.site.each_context(self.request) | context
        return super().get_context_data(**shown)


class SecondFactorPage(AdminPage):
    """Whether the administrator has a second factor, and what they can do about it."""

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        user: Any = self.request.user
        links: list[tuple[str, Any]]
        if AuthenticatorApp.of(user) is None:
            lines = [_("Your account has no second factor: your password alone gives access.")]
            links = [(reverse("second_factor_set_up"), _("Set up an authenticator app"))]
        else:
            left = RecoveryCodes.remaining(user)
            lines = [
                _("An authenticator app protects your account here and in the browsable API."),
                _("Recovery codes left: %(count)d") % {"count": left},
            ]
            links = [
                (reverse("second_factor_recovery_codes"), RecoveryCodesPage.title),
                (reverse("second_factor_set_up"), _("Move to another device")),
                (reverse("second_factor_turn_off"), TurnOffPage.title),
            ]
        return super().get_context_data(lines=lines, links=links, **context)


@method_decorator(sensitive_post_parameters(), name="dispatch")
class FormPage(RedirectURLMixin, LimitedForm, AdminPage):
    """A page with a form of an administrator, `self.user`."""

    next_page: Any = reverse_lazy("second_factor")
    button: Any = gettext_lazy("Continue")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().dispatch(request, *args, **kwargs)
        except NotAuthenticated:
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))

    @property
    def user(self) -> Any:
        return self.request.user

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request, "user": self.user}

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        shown = {"button": self.button, "next": self.get_redirect_url()}
        return super().get_context_data(**shown | context)

    def show_codes(self, codes: list[str]) -> HttpResponse:
        """The recovery codes, which are never shown again."""
        lines = [
            _("Each of these codes works once, instead of a code of the app."),
            _("Keep them where you find them without the device. They are not shown again."),
        ]
        context = AdminPage.get_context_data(
            self,
            form=None,
            title=_("Recovery codes"),
            lines=lines,
            codes=[in_groups(code) for code in codes],
            links=[(self.get_success_url(), _("I have stored them"))],
        )
        return self.render_to_response(context)


class CodePage(FormPage):
    """Asks for the code after a log-in with the password."""

    form_class = CodeForm
    next_page = reverse_lazy("admin:index")
    button = gettext_lazy("Log in")

    @property
    def user(self) -> Any:
        return half_authenticated(self.request)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if self.user is None:
            return redirect(self.get_success_url())
        if AuthenticatorApp.of(self.user) is None:
            query = {"next": self.get_redirect_url()}
            return redirect(reverse("second_factor_set_up", query=query))
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        complete(self.request, form.app)
        return super().form_valid(form)


class SetUpPage(FormPage):
    """Sets up an authenticator app, also for those who must have one to continue."""

    form_class = SetUpForm
    title = gettext_lazy("Set up an authenticator app")
    lines = (
        gettext_lazy(
            "Scan the picture with an authenticator app, then enter the code that it shows."
        ),
    )

    @property
    def user(self) -> Any:
        return half_authenticated(self.request) or self.request.user

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not (self.user.is_authenticated and self.user.is_admin):
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        self.app = AuthenticatorApp.of(self.user)
        if half_authenticated(request) and self.app:
            return redirect(reverse("second_factor_code", query={"next": self.get_redirect_url()}))
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        key = self.request.session.setdefault(_NEW_KEY, default_key())
        app = AuthenticatorApp(user=self.user, key=key)
        code = segno.make(app.config_url, error="m", micro=False)
        # Without scripts or styles, and with a light margin for dark pages.
        image = code.svg_inline(light="#fff", omitsize=True, title=_("QR code"))
        shown = {
            "qr_code": mark_safe(image),  # noqa: S308 -- only black and white depend on the text
            "seed": app.seed,
            "seed_label": _("If you cannot scan it, type this key into the app:"),
        }
        return super().get_context_data(**shown | context)

    def form_valid(self, form: Any) -> HttpResponse:
        key = self.request.session.get(_NEW_KEY, "")
        code = form.cleaned_data["code"]
        stored = AuthenticatorApp.set_up(self.user, key, code, instead_of=self.app)
        if stored is None:
            form.add_error("code", _("The code is wrong. Is the clock of the device right?"))
            return self.form_invalid(form)
        app, codes = stored
        complete(self.request, app)
        del self.request.session[_NEW_KEY]
        return self.show_codes(codes)


class RecoveryCodesPage(FormPage):
    """Replaces the recovery codes."""

    form_class = PasswordForm
    title = gettext_lazy("New recovery codes")
    lines = (gettext_lazy("The present recovery codes stop working."),)

    def form_valid(self, form: Any) -> HttpResponse:
        app = AuthenticatorApp.of(self.user)
        if app is None:
            return redirect("second_factor")
        return self.show_codes(app.renew_codes(self.user))


class TurnOffPage(FormPage):
    """Removes the second factor."""

    form_class = PasswordForm
    title = gettext_lazy("Turn off the second factor")

    def form_valid(self, form: Any) -> HttpResponse:
        app = AuthenticatorApp.of(self.user)
        if app is not None:
            app.remove(self.user)
            messages.success(self.request, _("The second factor is turned off."))
        return super().form_valid(form)
