"""What the tests that walk all apps ask of each: its module `tests/walked.py`, if it has one.

That module may have any of these names:

- `ROWS`: who may use its endpoints, each a `tests.trips.access.Row`; `ids(scene, names)` makes what
  stands for the placeholders of their routes, deleted if `scene.route` ends with `/restore`.
- `PROMISED` and `SCOPES_OF`: by capability, what OWNER, EDITOR and VIEWER may do, and the scopes of
  which one is needed.
- `AREAS` and `MORE`: by view, the area of the scope that a token needs, and further scopes.
- `WRITTEN`: by endpoint, the events that a request writes into the journal. `CALLERS`: who of the
  cast sends it, if not Olga.
- `fill_world(world)`: adds ids and valid bodies to a `tests.hostile.World`.
- `QUERIES` and `LISTS`: the number of queries of each GET, and which of them show many rows;
  `many(trip, olga, people, expense)` makes a row for each of the people, and returns ids.
- `SINGLE`: the GETs whose answer comes from one statement. `SHOWN`: by name, the path of what adds
  up expenses of a trip.
- `one_of_each(trip, olga, user, expense)`: makes a row for each of its lists in the admin site, and
  `lengthen(text)` gives them the longest texts that people can enter. `SECRETS`: by model, the
  columns that no file of such a list contains. `DATA`: patterns of what these pages show that is
  the same in English and in Spanish.
- `COMMANDS`: the fields of a `tests.trips.waiting.Command` for each endpoint that locks the trip;
  `waiting_ids(scene, names, by, can)` makes what they name. `WITHOUT_LOCK` and `WAIT_ELSEWHERE`:
  those that write in a trip without its lock, and those for which tests of the app show that they
  wait.
  `OWNED_TABLES`: the tables of what they change.
- `ACROSS`: compiled statements on tables of trips that do not name one, each with its reason.
- `LOCKS`: files that take the lock of a trip, or `FOR UPDATE`, by their paths in the checkout.
- `NOT_EXPORTED`: models about people that need no place in the export of an account.
- `DEAR`: by name, a request that takes long: its method, path, body, and the quota and seconds of
  its limit; `dear_ids(owner)` makes what the paths name.
- `ROUTES`: by name, the paths of GETs outside of the API, which are called with a token; `REFUSED`:
  those that are refused if they are too long, and `lower_limits(monkeypatch)` says when.
- `PRUNED`: what `prune` deletes, in its words; `ENDS`: the table and the column by which it finds
  that; `READ_WHOLE`: tables that it reads from end to end.
- `use(client, anybody)`: calls the operations that no row of `ROWS` and no body of `fill_world` can
  call with success, by the clients of somebody new and of nobody.
- `made_in_a_session(user)`: makes something that ends when all sessions of the account do, and
  `still_on()` says of whom something has not ended.
- `VOLATILE`: by name of a field, what examples show for what the clock or chance decides;
  `fit_query(query, client, user)` puts it into a query, and `resolve(monkeypatch)` gives hosts in
  examples an address. `secret_of(user, name, path)` is what the body of an example has for what
  only the service knows, or None.
- `writing_to(folder)`: a context in which files go into a temporary folder, for the whole session.
- `FLEXIBLE_INSIDE`: operations in whose bodies are objects that may have more names.
- `SENDABLE`: what makes something at a path whose answer can be sent back, and with which method.
- `GUARDS`: mutants of its locks, as `tests/mutations/locks.py` has them; `CONSTRAINT_TESTS`: where
  its constraints are violated, if not by `VIOLATIONS`; `VIOLATED_ELSEWHERE`: which ones.
- `claim(api, trip, by, guest, user)`: has the user take the place of the guest, as `by` lets them;
  the answer. `LOCKS_CALLER`: the commands that lock the account of the caller before the trip.
- `UNCHANGED`: paths below that of a trip whose answers stay the same when a deletion is undone,
  `OF_ACCOUNT` those of the caller, `OF_PERSON` those of somebody, whose id is `{}`, and
  `begin_history(history, expense)` makes what they show of a `tests.splits.undoing.History`;
  `read_history(history)` reads what else is shown of it. `RESTORABLE`: the paths of lists of rows
  that can be deleted and restored; `STEPS`: what happens to such rows, each a function of the
  history and of a number, which chooses among what there is.
- `PLACES`: what is added to the path of a trip for more that names people, and `read(client)`
  reads what else does; `LASTING`: paths whose answers leave nothing in memory; `LARGE_BODIES`:
  those that take long bodies.
- `REFUSED_BY_STATE`: by operation, the code with which a valid body of `fill_world` is refused.
  `SHOWS_SECRET`: the operations that answer with a `secret`, once.
- `LINKS`: the names of links at the root of the API, for who has logged in. `PRIVATELY_CACHED`: the
  media types of answers that their reader may keep for a while.
- `REQUEST_HEADERS`: those that pages of other origins may send to its paths.
- `PATHS`: paths that no document of the API has; `READ`: those of them that somebody can read.
  `FILES`: what is added to the path of a trip for a file. `ROOT_URLCONF`: the URL map with routes
  that are off by default.
- `VIOLATIONS`: a constraint, the name of a row of `constrained(trip, olga)`, and the columns that
  violate it; `UNIQUE`: the names of those that SQLite does not name.

Of the modules of tests it imports no other than `factories`, `scoped` and `trips.access`, because
what asks it is imported before it.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import Any

from django.conf import settings

from tripcompanion.plugin import plugins


@cache
def _module_of(app: str) -> Any:
    """The module of an app, or None. Looking for it takes longer than a request."""
    tests = f"{app}.tests"
    has_one = find_spec(tests) and find_spec(f"{tests}.walked")
    return import_module(f"{tests}.walked") if has_one else None


def answers(name: str) -> list[Any]:
    """What each module has by this name."""
    modules = (_module_of(app.name) for app in plugins())
    return [getattr(module, name) for module in modules if hasattr(module, name)]


def all_of(name: str) -> list[Any]:
    """The items of all lists or sets by this name."""
    return [*chain.from_iterable(answers(name))]


def merged(name: str) -> dict[Any, Any]:
    """All dictionaries by this name in one."""
    return {key: value for answer in answers(name) for key, value in answer.items()}


def urlconf() -> str:
    """The URL map with everything that can be turned on."""
    return next(iter(answers("ROOT_URLCONF")), settings.ROOT_URLCONF)
