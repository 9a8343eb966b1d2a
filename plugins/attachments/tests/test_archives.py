"""The archive of an account has the files that the account sent."""

import json
from io import BytesIO
from zipfile import ZipFile

import pytest

from plugins.attachments.models import Attachment
from plugins.attachments.storage import discard
from plugins.attachments.tests.pictures import PDF, send
from tests.own_data import PATH, archived

pytestmark = pytest.mark.either


@archived
def test_an_archive_has_ones_own_files(api, trip, olga, ed):
    client = api(ed)
    for user in (ed, olga):
        assert send(api(user), f"/api/trips/{trip.pk}/attachments", PDF).status_code == 201
    own = Attachment.objects.get(created_by=ed)
    response = client.get(PATH, headers={"accept": "application/zip"})
    assert response["Content-Type"] == "application/zip"
    with ZipFile(BytesIO(response.content)) as archive:
        assert archive.testzip() is None
        files = [name for name in archive.namelist() if name.startswith("attachments/")]
        assert files == [f"attachments/{own.pk}.pdf"]
        assert archive.read(files[0]) == PDF
        assert json.loads(archive.read("account.json")) == client.get(PATH).json()
    discard(own.file)
    answer = client.get(f"{PATH}?format=zip")
    assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
