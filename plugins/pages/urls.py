"""The routes of the landing page and of the root of the API."""

from django.urls import path

from plugins.pages.landing import LandingPage
from plugins.pages.root import RootViewSet

PAGES = [
    path("", LandingPage.as_view()),
    path("api", RootViewSet.as_view({"get": "links"}, name="API")),
]
