"""The queue of docs/offline.md, in Node: killed while it sends, it neither loses nor doubles."""

import json
import re
import subprocess
from functools import partial
from itertools import islice
from subprocess import PIPE
from typing import Any

import pytest

from tests.document import ROOT
from tests.programs import do_without, found
from tests.splits.journey import sign_up
from tests.trips.bodies import lisbon

pytestmark = pytest.mark.once

PAGE = ROOT / "docs" / "offline.md"
COMPILER = ROOT / "clients" / "node_modules" / ".bin" / "tsc"
OPTIONS = "--strict --noUncheckedIndexedAccess --target ES2022 --module ES2022 --lib ES2022,DOM"
#: Queues the changes of a file if its store is empty, then sends. It loses answers and its token.
PHONE = """
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { OfflineQueue } from "./offline.mjs";
const [api, token] = process.argv.slice(2);
const store = {
  read: async () => (existsSync("store") ? readFileSync("store", "utf8") : null),
  write: async (text) => { writeFileSync("store.new", text); renameSync("store.new", "store"); },
};
let sent = 0;
const queue = await OfflineQueue.open(store, async ({ method, path, body, headers }) => {
  sent += 1;
  const bearer = { Authorization: `Bearer ${sent === 5 ? "stale" : token}` };
  const type = { "Content-Type": "application/json" };
  const all = { ...bearer, ...type, ...headers };
  const answer = await fetch(api + path, { method, headers: all, body: JSON.stringify(body) });
  console.log(answer.status);
  if (sent === 9) throw new TypeError("The network is gone, and the answer with it.");
  return answer;
});
if (api) {
  await queue.flush();
  const [bad, edit, ...others] = queue.state.refused;
  await queue.settle(bad, { ...bad, body: { ...bad.body, amount: 2 } });
  await queue.settle(edit, edit);
  await queue.flush();
  const codes = [bad, edit, ...others].map(({ problem }) => problem.code);
  writeFileSync("codes", JSON.stringify([codes, queue.state.refused.length]));
} else {
  const names = {};
  const named = (text) => text.replace(/<(\\w+)(\\.user)?>|=(\\w+)=/g, (_all, name, user, own) =>
    own ? names[own].slice(1, -1) : names[name].replace("}", `${user ?? ""}}`));
  for (const change of JSON.parse(readFileSync("changes", "utf8"))) {
    const { name, path, body, ...rest } = JSON.parse(named(JSON.stringify(change)));
    if (name) names[name] = await queue.create(path, body);
    else await queue.add({ path, body, ...rest });
  }
}
"""


def body_of(owner, **fields):
    """An expense of the owner and the guest."""
    among = {"splitType": "EQUAL", "participantUserIds": [owner, "<gil.user>"]}
    return {"description": "Hut", "amount": "8.00", "expenseDate": "2026-05-14", **among, **fields}


def made(name, where, body):
    return {"name": name, "method": "POST", "path": where, "body": body}


def changes(owner):
    """200 of them: a trip, a guest, expenses, some changed or deleted, settlements, messages."""
    trip = "/trips/<trip>"
    done: list[dict[str, Any]] = [
        made("trip", "/trips", lisbon(currency="EUR")),
        made("gil", f"{trip}/guests", {"name": "Gil"}),
    ]
    for at in range(99):
        one = {"path": f"{trip}/expenses/<e{at}>"}
        body = body_of(owner, description=f"Hut {at}", amount=2 * at + 2)
        paid = {"fromUserId": "<gil.user>", "toUserId": owner, "settledOn": "2026-05-15"}
        second: list[dict[str, Any]] = [
            {"method": "PATCH", **one, "body": {"amount": 4 * at + 2, "notes": f"Was {at}"}},
            {"method": "DELETE", **one},
            made(f"s{at}", f"{trip}/settlements", paid | {"amount": at + 1}),
            made(f"m{at}", f"{trip}/messages", {"text": f"Number {at}"}),
        ]
        done += [made(f"e{at}", f"{trip}/expenses", body), second[at % 4]]
    return done


def refused(owner, amount=0):
    """A 400, the edit of what that would have created, a 409 and a 412."""
    path = "/trips/<trip>/expenses"
    patch = {"method": "PATCH", "body": {"notes": "?"}}
    taken = body_of(owner, description="Another", clientId="=e0=")
    return [
        made("bad", path, body_of(owner, amount=amount)),
        {"path": f"{path}/<bad>", **patch},
        {"method": "POST", "path": path, "body": taken},
        {"path": f"{path}/<e0>", "headers": {"If-Match": '"stale"'}, **patch},
    ]


def online(owner):
    """Send the same with a network; the id of the trip."""
    ids: dict[str, int] = {}
    for change in changes(owner.id) + refused(owner.id, 2)[:2]:
        text = re.sub(r'"<(\w+\.user)>"', lambda name: str(ids[name[1]]), json.dumps(change))
        sent = json.loads(re.sub(r"<(\w+)>", lambda name: str(ids[name[1]]), text))
        answer = owner.done(sent["method"], sent["path"], sent.get("body"))
        if "name" in sent:
            ids[sent["name"]] = answer["id"]
            ids[f"{sent['name']}.user"] = answer.get("user", answer)["id"]
    return ids["trip"]


def shown(owner, trip):
    """All that is in a trip, apart from ids and times; a list has its rows in any order."""

    def bare(found):
        if isinstance(found, list):
            return sorted(map(bare, found), key=str)
        if not isinstance(found, dict):
            return found
        left_out = ("id", "Id", "At", "Ids", "code", "Amounts", "number")
        return {key: bare(value) for key, value in found.items() if not key.endswith(left_out)}

    pages = [f"{kind}?pageSize=100" for kind in ("expenses", "settlements", "messages")]
    paths = [*pages, "members", "balances"]
    answers = [owner.done("GET", f"/trips/{trip}/{path}") for path in paths]
    return bare(answers)


def test_a_phone_that_is_killed_while_it_sends_ends_as_if_it_had_been_online(
    server, http, tmp_path
):
    if not found("node") or not COMPILER.exists():
        do_without("Node.js or clients/node_modules is missing; `make clients` installs the latter")
    [code, _use] = re.findall(r"^```ts\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    (tmp_path / "offline.mts").write_text(code)
    (tmp_path / "phone.mjs").write_text(PHONE)
    run = partial(subprocess.run, cwd=tmp_path, check=True)
    run([COMPILER, *OPTIONS.split(), "offline.mts"])
    owner = sign_up(http)
    (tmp_path / "changes").write_text(json.dumps(changes(owner.id) + refused(owner.id)))
    run(["node", "phone.mjs"])
    of_others = body_of(owner.id, participantUserIds=[owner.id])
    statuses: list[int] = []
    others = 0
    token = owner.headers["Authorization"].removeprefix("Bearer ")
    command = ["node", "phone.mjs", f"{server.url}/api", token]
    for killed_after in (40, 60, None):
        with subprocess.Popen(command, cwd=tmp_path, stdout=PIPE, text=True) as phone:
            for status in islice(phone.stdout or (), killed_after):
                statuses.append(int(status))
                if len(statuses) % 20 == 0:
                    [trip] = owner.done("GET", "/trips")["items"]
                    owner.done("POST", f"/trips/{trip['id']}/expenses", of_others)
                    others += 1
            if killed_after:
                phone.kill()
    same = online(owner)
    for _number in range(others):
        owner.done("POST", f"/trips/{same}/expenses", of_others)
    assert shown(owner, trip["id"]) == shown(owner, same)
    codes = ["invalid", "creation_refused", "client_id_taken", "precondition_failed"]
    assert json.loads((tmp_path / "codes").read_text()) == [codes, 2]
    assert json.loads((tmp_path / "store").read_text())["waiting"] == []
    assert statuses.count(401) == 3
