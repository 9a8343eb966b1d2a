"""The page that links in mails open."""

from django.urls import path

from plugins.notices.views import UnsubscribePage

PAGES = [path("unsubscribe", UnsubscribePage.as_view())]
