"""People who become friends of several callers at once."""

from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.locks import holding
from tests.server import running_server
from tests.splits.journey import fresh_email, register, sign_up


def test_friends_are_locked_in_one_order_whatever_that_of_the_list():
    """Otherwise, two callers who add the same people in two orders wait for each other."""
    with (
        running_server(SPLITWISE_API="true", LOG_LEVEL="ERROR") as server,
        httpx.Client(base_url=server.url) as http,
    ):
        caller, emails = sign_up(http), [fresh_email(), fresh_email()]
        first, second = (register(http, email).json()["user"]["id"] for email in emails)
        body = {f"users__{place}__email": email for place, email in enumerate(reversed(emails))}
        with ThreadPoolExecutor(1) as thread, holding(server, "users_user", first) as other:
            answer = thread.submit(caller.call, "POST", "/v3.0/create_friends", body)
            other.wait_for(1)
            if not other.is_sqlite:
                other.run("SELECT 1 FROM users_user WHERE id = %s FOR UPDATE NOWAIT", second)
            other.commit()
        assert [one["id"] for one in answer.result().json()["users"]] == [second, first]
