"""The second factor in the API: log-ins with a code, and the caller's own app."""

from django.utils.translation import gettext_lazy
from rest_framework.exceptions import (
    AuthenticationFailed,
    NotAuthenticated,
    NotFound,
    ValidationError,
)
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.second_factor.models import (
    AuthenticatorApp,
    Challenge,
    ChallengeEnded,
    NothingOffered,
    SecondFactor,
    SecondFactorExists,
)
from plugins.second_factor.serializers import (
    CodeRequest,
    ConfirmedAppSerializer,
    OfferedAppSerializer,
    OwnCodeRequest,
    SecondFactorLogin,
    SecondFactorSerializer,
)
from tripcompanion.api.operations import operation
from tripcompanion.api.viewsets import ApiViewSet, OpenViewSet
from users.models import User
from users.models.conflicts import LogInAgain
from users.models.session import require_recent_log_in
from users.serializers.session import LoginResponse
from users.throttles import LoginThrottle, note_wrong_password
from users.tokens import log_in


class WrongCode(AuthenticationFailed):
    """401 `wrong_code`: the code is wrong or was used already; the challenge takes another one."""

    default_code = "wrong_code"
    default_detail = gettext_lazy("The code is wrong, or has been used already.")


class SecondFactorLoginViewSet(OpenViewSet):
    """The second step of a log-in. Open to everybody who has a challenge."""

    tag = "sessions"
    response_serializer = LoginResponse

    @operation(
        "logInWithSecondFactor", takes=SecondFactorLogin, problems=[WrongCode, ChallengeEnded]
    )
    def log_in(self, request: Request) -> Response:
        """Complete a log-in that was refused with `second_factor_required`.

        The challenge lasts five minutes, and ends with the fifth wrong code. A code counts as a
        log-in attempt.
        """
        body = self.body()
        challenge = Challenge.of(body["challenge"])
        user = challenge.user
        LoginThrottle().require_under(request, user.email or "")
        if not challenge.accepts(body["code"]):
            note_wrong_password(request, user.email)
            raise WrongCode
        try:
            return self.answer(log_in(user, request, is_complete=True))
        except NotAuthenticated as error:
            raise ChallengeEnded from error


class SecondFactorViewSet(ApiViewSet):
    """The caller's own second factor."""

    tag = "sessions"
    safe_retries = False

    @operation("getSecondFactor", answers=SecondFactorSerializer)
    def retrieve(self, request: Request) -> Response:
        """Whether log-ins of the caller ask for a code."""
        return self.answer(SecondFactor.of(self.caller))

    @operation(
        "setUpSecondFactor", answers=OfferedAppSerializer, problems=[SecondFactorExists, LogInAgain]
    )
    def create(self, request: Request) -> Response:
        """Set up an authenticator app.

        It counts once `confirmSecondFactor` has had a code of it. Only within ten minutes of a
        log-in, so that a stolen token cannot lock its owner out.
        """
        require_recent_log_in(self.caller, request.auth)
        app = AuthenticatorApp.offer(self.caller)
        return self.answer(app, location="/api/users/me/second-factor")

    @operation(
        "confirmSecondFactor",
        takes=OwnCodeRequest,
        answers=ConfirmedAppSerializer,
        problems=[NothingOffered],
    )
    def confirm(self, request: Request) -> Response:
        """Turn the second factor on with a code of the new app.

        From now on each log-in asks for a code, and the answer has the only recovery codes.
        """
        code = self.body()["code"]
        LoginThrottle().require_under(request, self.caller.email or "")
        codes = AuthenticatorApp.confirm(self.caller, code)
        if codes is None:
            raise _wrong(request, self.caller)
        return self.answer(codes)

    @operation("removeSecondFactor", takes=CodeRequest, problems=[NotFound])
    def destroy(self, request: Request) -> Response:
        """Turn the second factor off with a code."""
        code = self.body()["code"]
        LoginThrottle().require_under(request, self.caller.email or "")
        if not AuthenticatorApp.remove_with(self.caller, code):
            raise _wrong(request, self.caller)
        return self.no_content()


def _wrong(request: Request, user: User) -> ValidationError:
    """The refusal of a wrong code of the caller, which is counted."""
    note_wrong_password(request, user.email)
    return ValidationError({"code": [WrongCode.default_detail]})
