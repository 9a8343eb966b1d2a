"""The route of the export."""

from django.urls import path

from plugins.personal_data.views import PersonalDataViewSet

ME = [path("/export", PersonalDataViewSet.as_view({"get": "export"}))]
