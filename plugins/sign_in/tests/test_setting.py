"""`OIDC_PROVIDERS` stops the start with one line that says what is wrong."""

import json

import pytest

from plugins.sign_in.providers import read_providers

pytestmark = pytest.mark.once

GOOD = {
    "provider": "google",
    "name": "Google",
    "issuer": "https://accounts.google.com",
    "clientId": "123.apps.googleusercontent.com",
}


def read(value, *, debug=False):
    text = value if isinstance(value, str) else json.dumps(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEBUG", str(debug).lower())
        return read_providers(text)


def test_it_is_read():
    other = GOOD | {"provider": "own", "issuer": "https://login.example.com/realms/trips"}
    first, second = read([GOOD, other])
    assert (first.provider, first.client_id) == ("google", GOOD["clientId"])
    assert second.issuer == other["issuer"]
    assert read("") == read([]) == []


@pytest.mark.parametrize("host", ["localhost:9000", "127.0.0.1", "[::1]:9000"])
def test_http_is_for_this_machine_in_development(host):
    local = [GOOD | {"issuer": f"http://{host}"}]
    assert read(local, debug=True)[0].issuer
    with pytest.raises(SystemExit):
        read(local)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("google", "must be a JSON list"),
        ({}, "must be a JSON list"),
        (7, "must be a JSON list"),
        (["google"], "not 'google'"),
        ([{**GOOD, "secret": "x"}], "not {"),
        ([{"provider": "google"}], "not {"),
        ([{**GOOD, "provider": "Google"}], "the provider cannot be"),
        ([{**GOOD, "name": ""}], "the name cannot be"),
        ([{**GOOD, "clientId": None}], "the clientId cannot be"),
        ([{**GOOD, "issuer": "accounts.google.com"}], "the issuer cannot be"),
        ([{**GOOD, "issuer": "https://a.example/?x=1"}], "the issuer cannot be"),
        ([{**GOOD, "issuer": "https://u:p@a.example"}], "the issuer cannot be"),
        ([{**GOOD, "issuer": "http://a.example"}], "must be https"),
        ([{**GOOD, "issuer": "http://localhost.example"}], "must be https"),
        ([GOOD, {**GOOD, "issuer": "https://a.example"}], "same provider"),
        ([GOOD, {**GOOD, "provider": "other"}], "same issuer"),
    ],
)
def test_what_is_wrong_stops_the_start(value, reason):
    with pytest.raises(SystemExit) as stopped:
        read(value, debug=True)
    [line] = str(stopped.value).splitlines()
    assert line.startswith("Configuration error: OIDC_PROVIDERS must be a JSON list of objects")
    assert reason in line
