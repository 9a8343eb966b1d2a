"""The categories of expenses."""

from django.db import models
from django.utils.translation import gettext_lazy


class Category(models.TextChoices):
    """What the money was spent on."""

    ACCOMMODATION = "ACCOMMODATION", gettext_lazy("accommodation")
    FOOD = "FOOD", gettext_lazy("food")
    TRANSPORT = "TRANSPORT", gettext_lazy("transport")
    ACTIVITIES = "ACTIVITIES", gettext_lazy("activities")
    OTHER = "OTHER", gettext_lazy("other")
