"""Whatever ends all sessions of an account ends what was made in them, too."""

import pytest

from tests.factories import PASSWORD, overwrite
from tests.users.logins import bearer, try_to_log_in
from tests.walked import answers
from users.mail_templates import MailTemplate
from users.models import EmailToken, ScopedToken

NEW = "five-yellow-umbrellas"


def reset(user):
    token = EmailToken.make(user, MailTemplate.RESET)
    body = {"token": token, "newPassword": NEW}
    return bearer("none").post("/api/users/password-reset/confirm", body).status_code


def made_by(*users):
    """What apps say that ends with the sessions of an account."""
    for row_of in answers("made_in_a_session"):
        for user in users:
            row_of(user)


@pytest.mark.parametrize("way", ["reset", "password", "everywhere", "deactivated"])
def test_what_was_opened_to_others_ends_with_the_sessions(api, trip, olga, ed, way):
    """T195: What ends the sessions of an account ends what it has opened to others."""
    overwrite(olga, email_verified_at=olga.created_at)
    made_by(olga, ed)
    if way == "reset":
        assert reset(olga) == 204
    elif way == "password":
        body = {"currentPassword": PASSWORD, "newPassword": NEW}
        assert api(olga).put(f"/api/users/{olga.pk}/profile", body).status_code == 200
    elif way == "everywhere":
        olga.log_out_everywhere(by=None)
    else:
        olga.deactivate(by=None)
    for still_on in answers("still_on"):
        assert still_on() == {ed.pk}


def test_whoever_takes_back_their_address_keeps_nothing_that_somebody_else_made(api, trip, olga):
    # Nobody has confirmed the address so far.
    made_by(olga)
    ScopedToken.issue(olga, name="Script", scopes=["trips:read"])
    assert reset(olga) == 204
    assert not ScopedToken.objects.exists()
    for still_on in answers("still_on"):
        assert still_on() == set()
    assert try_to_log_in(olga.email, NEW).status_code == 200
