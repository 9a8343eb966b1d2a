"""The routes of Splitwise's API, below `/api/v3.0/`, and of its log-in."""

from typing import Any

from django.conf import settings
from django.urls import include, path

from plugins.splitwise.views.comments import CommentViewSet, NotificationViewSet
from plugins.splitwise.views.expenses import ExpenseViewSet
from plugins.splitwise.views.groups import FriendViewSet, GroupViewSet
from plugins.splitwise.views.users import ListViewSet, UserViewSet


def _reads(viewset: Any, name: str, argument: str = "") -> Any:
    return path(f"{name}{argument}", viewset.as_view({"get": name}))


def _writes(viewset: Any, name: str, argument: str = "", *methods: str) -> Any:
    actions = dict.fromkeys(("post", *methods), name)
    return path(f"{name}{argument}", viewset.as_view(actions))


_USER, _GROUP, _EXPENSE = "/<id:user_id>", "/<id:group_id>", "/<id:expense_id>"

ENDPOINTS = [
    _reads(UserViewSet, "get_current_user"),
    _reads(UserViewSet, "get_user", _USER),
    _writes(UserViewSet, "update_user"),
    _writes(UserViewSet, "update_user", _USER, "put"),
    path("test", UserViewSet.as_view({"get": "test", "post": "test"})),
    _reads(GroupViewSet, "get_groups"),
    path("get_group/0", GroupViewSet.as_view({"get": "get_group"}), {"group_id": 0}),
    _reads(GroupViewSet, "get_group", _GROUP),
    _writes(GroupViewSet, "create_group"),
    _writes(GroupViewSet, "delete_group", _GROUP, "delete"),
    _writes(GroupViewSet, "undelete_group", _GROUP),
    _writes(GroupViewSet, "add_user_to_group"),
    _writes(GroupViewSet, "remove_user_from_group"),
    _reads(FriendViewSet, "get_friends"),
    _reads(FriendViewSet, "get_friend", _USER),
    _writes(FriendViewSet, "create_friend"),
    _writes(FriendViewSet, "create_friends"),
    _writes(FriendViewSet, "delete_friend", _USER, "delete"),
    _reads(ExpenseViewSet, "get_expenses"),
    _reads(ExpenseViewSet, "get_expense", _EXPENSE),
    _writes(ExpenseViewSet, "create_expense"),
    _writes(ExpenseViewSet, "update_expense", _EXPENSE),
    _writes(ExpenseViewSet, "delete_expense", _EXPENSE, "delete"),
    _writes(ExpenseViewSet, "undelete_expense", _EXPENSE),
    _reads(CommentViewSet, "get_comments"),
    _writes(CommentViewSet, "create_comment"),
    _writes(CommentViewSet, "delete_comment", "/<id:comment_id>", "delete"),
    _reads(NotificationViewSet, "get_notifications"),
    _reads(ListViewSet, "get_currencies"),
    _reads(ListViewSet, "get_categories"),
    path("schema", ListViewSet.as_view({"get": "document"})),
]
#: Old clients end the address with a slash.
ROUTES = [
    *ENDPOINTS,
    *(path(f"{one.pattern}/", one.callback, one.default_args) for one in ENDPOINTS),
]
#: Only if programs for Splitwise's API are to be served, and log in by OAuth, too.
API = [path("v3.0/", include(ROUTES))] if settings.SPLITWISE_API else []
PAGES = [path("", include("plugins.splitwise.oauth_urls"))] if settings.SPLITWISE_OAUTH else []
