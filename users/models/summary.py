"""Users as nested in other objects."""

from collections.abc import Iterable

from tripcompanion.compiled import ArrayParam, CompiledQuery
from users.models.user import User, UserQuerySet

_COLUMNS = ("name", "email", "profile_picture", "is_guest", "is_unanswered")


def summary_of(path: str = "") -> tuple[str, ...]:
    """The columns of `UserSummary` for the user at `path`, or of users, as arguments of `only`."""
    return tuple(f"{path}__{name}" if path else name for name in _COLUMNS)


def summaries(user_ids: Iterable[int]) -> dict[int, User]:
    """The accounts with these ids, by id, with the columns of `UserSummary` and `notice_mode`.

    A guest whose row is gone has no name.
    """
    ids = list(user_ids)
    gone = {pk: User(pk=pk, name="", is_guest=True) for pk in ids}
    return gone | {user.pk: user for user in _summaries.fetch(ids=ids)}


def named(user_ids: Iterable[int]) -> dict[int, User]:
    """The accounts with these ids, by id, with what `name_at` needs."""
    found = User.objects.filter(pk__in=user_ids).only("name", "former_names")
    return {user.pk: user for user in found}


@CompiledQuery
def _summaries(ids: ArrayParam = ArrayParam("ids")) -> UserQuerySet:
    return User.objects.filter(ArrayParam.among(ids, "id")).only(*_COLUMNS, "notice_mode")
