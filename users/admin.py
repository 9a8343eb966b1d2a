"""The admin site itself, and accounts in it, read-only."""

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin  # noqa: F401 -- registers Group
from django.contrib.auth.models import Group
from django.utils.translation import gettext_lazy
from django_otp.plugins.otp_static.admin import StaticDeviceAdmin  # noqa: F401 -- registers it
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.admin import TOTPDeviceAdmin  # noqa: F401 -- registers it
from django_otp.plugins.otp_totp.models import TOTPDevice

from tripcompanion.adminsite.base import ReadOnlyAdmin
from users.forms import LimitedAdminLogin
from users.models import User

admin.site.site_header = admin.site.site_title = "Trip Companion"
admin.site.index_title = gettext_lazy("Administration")
admin.site.site_url = "/api/docs"
admin.site.login_form = LimitedAdminLogin
# Groups are not used: the roles are USER, ADMIN and those of a trip.
admin.site.unregister(Group)
# Second factors belong to their owners. These pages would show and change them. The apps are here
# because released migrations name them.
admin.site.unregister([TOTPDevice, StaticDevice])


@admin.register(User)
class UserAdmin(ReadOnlyAdmin):
    list_display = fields = ("email", "name", "role", "is_active", "created_at")
    search_fields = ("email", "name")
