"""Logging in and out in a browser, and changing one's own password there."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView, redirect_to_login
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from rest_framework.exceptions import NotAuthenticated

from tripcompanion.api.error_views import ProblemView
from users.forms import LimitedLogin, OwnPasswordForm
from users.second_factor import code_url, half_authenticated, is_missing


class BrowserLogin(ProblemView, LoginView):
    """The login page of the browsable API. It leads to the second factor of accounts with one."""

    template_name = "rest_framework/api.html"
    authentication_form = LimitedLogin

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if half_authenticated(request):
            return redirect(code_url(super().get_success_url()))
        return super().get(request, *args, **kwargs)

    def get_success_url(self) -> str:
        url = super().get_success_url()
        return code_url(url) if is_missing(self.request, self.request.user) else url

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_invalid(form)
        if form.has_error(NON_FIELD_ERRORS, LimitedLogin.THROTTLED):
            response.status_code = 429
        return response

    http_method_names = ["get", "post", "head"]


class BrowserLogout(ProblemView, LogoutView):
    """The target of the browsable API's logout button."""

    http_method_names = ["post"]


class OwnPassword(PasswordChangeView):
    """The admin page for changing one's own password."""

    form_class = OwnPasswordForm
    success_url = reverse_lazy("admin:password_change_done")

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(**admin.site.each_context(self.request), **context)

    def form_valid(self, form: Any) -> HttpResponse:
        try:
            return super().form_valid(form)
        except NotAuthenticated:
            return redirect_to_login(self.request.get_full_path(), reverse("admin:login"))
