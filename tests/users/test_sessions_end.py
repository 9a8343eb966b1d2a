"""Whatever ends all sessions of an account ends what was made in them, too."""

import pytest
from django.contrib.auth.hashers import make_password

from tests.document import problem_of
from tests.factories import PASSWORD, overwrite
from tests.scoped import ALL, script_of
from tests.users.logins import bearer, log_in, refresh, try_to_log_in
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


def let_in_again(user):
    user.deactivate(by=None)
    overwrite(user, is_active=True)


@pytest.mark.parametrize(
    ("end", "password"),
    [
        (lambda user: user.deactivate(by=None), None),
        (let_in_again, PASSWORD),
        # Behind the API.
        (lambda user: overwrite(user, is_active=False), None),
        (lambda user: overwrite(user, password=make_password(NEW)), NEW),
    ],
    ids=["deactivated", "let in again", "barred", "password"],
)
def test_every_token_dies_at_once_and_stays_dead(olga, end, password):
    """T24: A deactivated account has no access and cannot log in."""
    pairs, script = [log_in(olga), log_in(olga)], script_of(olga, *ALL).token
    end(olga)
    for pair in pairs:
        problem_of(bearer(pair["token"]).get("/api/users/me"), 401, "token_invalid")
        assert refresh(pair["refreshToken"]).status_code == 401
    assert bearer(script).get("/api/trips").status_code == 401
    assert try_to_log_in(olga.email, password or PASSWORD).status_code == (200 if password else 401)
