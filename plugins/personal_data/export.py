"""The export of all data that the service stores about a user, as each app contributes to it."""

from functools import partial
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from rest_framework import serializers
from rest_framework.exceptions import APIException

from plugins.written_files import rows_at_once, written_file
from tripcompanion.api.rendering import ExactJSONRenderer
from tripcompanion.api.serializers import CamelCaseSerializer, camel_case
from tripcompanion.compiled import serialize
from tripcompanion.plugin import PersonalList, plugins
from users.models import User
from users.serializers.account import UserSerializer

#: How many rows are held in memory at a time; SQLite takes no thousand keys.
CHUNK_ROWS = 500


class ExportedAccount(UserSerializer):
    """The account, with every field."""

    email_verified_at = serializers.DateTimeField(
        allow_null=True, help_text="When the address was confirmed; null if it is not."
    )
    last_browser_log_in = serializers.DateTimeField(
        source="last_login",
        allow_null=True,
        help_text="The last login to the admin site or the browsable API; null if none.",
    )


class AccountExport(CamelCaseSerializer):
    """All data about the user. Other users appear with id and name only."""

    account = ExportedAccount(help_text="The account itself.")

    def get_fields(self) -> dict[str, serializers.Field]:
        lists = {
            camel_case(rows.name): rows.shape(many=True, help_text=rows.help_text)
            for rows in personal_data()
        }
        return {**super().get_fields(), **lists}


def personal_data() -> list[PersonalList]:
    """The lists of all apps."""
    return [rows for app in plugins() for rows in app.personal_data()]


def file_problems() -> list[type[APIException]]:
    """What writing the files of an archive may raise."""
    return [problem for app in plugins() for problem in app.file_problems()]


def exported(user: User) -> IO[bytes]:
    """A temporary file with an `AccountExport` of `user` as JSON. Call it in a snapshot."""
    return written_file(lambda file: _write_account(user, file))


def archive_of(user: User) -> IO[bytes]:
    """Like `exported`, as a ZIP archive that also has the files of all apps.

    Raises one of `file_problems`.
    """
    return written_file(partial(_write_archive, user))


def _write_archive(user: User, file: IO[bytes]) -> None:
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        with archive.open("account.json", "w", force_zip64=True) as member:
            _write_account(user, member)
        for app in plugins():
            for name, write in app.personal_files(user):
                with archive.open(name, "w", force_zip64=True) as member:
                    write(member)


def _write_account(user: User, file: IO[bytes]) -> None:
    """Write row by row: at most `CHUNK_ROWS` rows are in memory."""
    file.write(b'{"account":' + _json(serialize(ExportedAccount, user, {})))
    for rows in personal_data():
        file.write(b',"%s":[' % camel_case(rows.name).encode())
        comma = b""
        found = rows.of(user)
        for row in found.iterator(rows_at_once(found.model, CHUNK_ROWS)):
            file.write(comma + _json(serialize(rows.shape, row, {})))
            comma = b","
        file.write(b"]")
    file.write(b"}")


def _json(value: Any) -> bytes:
    return ExactJSONRenderer().render(value)
