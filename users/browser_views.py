"""Logging in and out in a browser, and one's own password there.

All but the login page of the browsable API look like the admin site.
"""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView, redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.views.generic import FormView
from rest_framework.exceptions import NotAuthenticated

from tripcompanion.api.error_views import ProblemView
from users.forms import LimitedLogin, OwnPasswordForm
from users.log_in import step_url


class LimitedForm(FormView):
    """A page with a form, which answers 429 after too many attempts."""

    def form_invalid(self, form: forms.Form) -> HttpResponse:
        response = super().form_invalid(form)
        if any(form.has_error(name, LimitedLogin.THROTTLED) for name in form.errors):
            response.status_code = 429
        return response


class BrowserLogin(ProblemView, LimitedForm, LoginView):
    """The login page of the browsable API. It leads to the steps after the password."""

    template_name = "rest_framework/api.html"
    authentication_form = LimitedLogin

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if url := step_url(request, super().get_success_url()):
            return redirect(url)
        return super().get(request, *args, **kwargs)

    def get_success_url(self) -> str:
        url = super().get_success_url()
        return step_url(self.request, url) or url

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


def admin_login(request: HttpRequest) -> HttpResponseBase:
    """The login page of the admin site, which leads to the steps after the password."""
    if request.method == "GET" and (url := step_url(request, request.GET.get("next", ""))):
        return redirect(url)
    response = admin.site.login(request)
    if isinstance(response, HttpResponseRedirect):
        return redirect(step_url(request, response.url) or response.url)
    return response
