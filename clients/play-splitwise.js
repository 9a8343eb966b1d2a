// Plays a story with npm's `splitwise`, as it is: `node play-splitwise.js <address> <secret>`.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const [url, secret] = process.argv.slice(2);

// Replace the addresses, which are constants. GET requests would have the key in their address,
// where this service does not read it.
require("splitwise/src/constants.js").API_URL = `${url}/api/v3.0/`;
const { OAuth2 } = require("oauth");
OAuth2.prototype._getAccessTokenUrl = () => `${url}/oauth/token`;
Object.defineProperty(OAuth2.prototype, "_useAuthorizationHeaderForGET", { get: () => true, set() {} });
const Splitwise = require("splitwise");

/** Somebody with a new account, and a key for programs. */
class Account {
  static async create(name) {
    const account = new Account();
    account.email = `${name.toLowerCase()}-${process.hrtime.bigint()}@example.com`;
    const body = { name, email: account.email, password: "a long password" };
    const registered = await account.ask("/users/register", body);
    account.id = registered.user.id;
    account.token = registered.token;
    const scopes = ["trips:read", "trips:write", "expenses:read", "expenses:write"];
    const { token } = await account.ask("/users/me/tokens", { name: "Story", scopes });
    account.key = token;
    return account;
  }

  /** The answer of our own API. */
  async ask(path, body) {
    const headers = { "Content-Type": "application/json" };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    const method = body ? "POST" : "GET";
    const answer = await fetch(`${url}/api${path}`, { method, headers, body: JSON.stringify(body) });
    assert(answer.ok, await answer.clone().text());
    return answer.json();
  }

  /** The balances of a trip as our own API has them, by user id, in cents. */
  async balances(trip) {
    const rows = await this.ask(`/trips/${trip}/balances`);
    return Object.fromEntries(rows.map((row) => [row.user.id, Math.round(row.balance * 100)]));
  }
}

const ana = await Account.create("Ana");
const bob = await Account.create("Bob");
const options = { consumerKey: "story", consumerSecret: "unused" };
const client = Splitwise({ ...options, accessToken: ana.key });

const own = await client.getCurrentUser();
assert.equal(own.id, ana.id);
assert.equal((await client.updateUser({ id: own.id, first_name: own.first_name })).id, ana.id);

const users = [{ email: bob.email, first_name: "Bob" }, { first_name: "Carla" }];
const group = await client.createGroup({ name: "Flat", group_type: "home", users });
const carla = group.members.find((one) => one.registration_status === "dummy").id;

// Of 60.01, Ana has paid 40.01 and Bob 20; they bear 10, 20 and 30.01.
const rent = await client.createExpense({
  cost: "60.01",
  description: "Rent",
  group_id: group.id,
  users: [
    { user_id: ana.id, paid_share: "40.01", owed_share: "10" },
    { user_id: bob.id, paid_share: "20", owed_share: "20" },
    { user_id: carla, paid_share: "0", owed_share: "30.01" },
  ],
});
assert.equal(rent.cost, "60.01");
const afterRent = { [ana.id]: 3001, [bob.id]: 0, [carla]: -3001 };
assert.deepEqual(await ana.balances(group.id), afterRent);

const debt = { from: ana.id, to: bob.id, amount: "5.50", description: "Taxi", group_id: group.id };
const taxi = await client.createDebt(debt);
assert.deepEqual(await ana.balances(group.id), { ...afterRent, [ana.id]: 3551, [bob.id]: -550 });
const [changed] = await client.updateExpense({ id: taxi.id, description: "Night bus" });
assert.equal(changed.description, "Night bus");

const payment = {
  payment: true,
  cost: "30.01",
  description: "Payment",
  group_id: group.id,
  users: [
    { user_id: carla, paid_share: "30.01" },
    { user_id: ana.id, owed_share: "30.01" },
  ],
};
assert.equal((await client.createExpense(payment)).payment, true);
assert.deepEqual(await ana.balances(group.id), { [ana.id]: 550, [bob.id]: -550, [carla]: 0 });

assert.equal(await client.deleteExpense({ id: taxi.id }), true);
assert.deepEqual(await ana.balances(group.id), { [ana.id]: 0, [bob.id]: 0, [carla]: 0 });
assert((await client.getExpense({ id: taxi.id })).deleted_at);
await assert.rejects(client.deleteExpense({ id: taxi.id }));
await assert.rejects(client.createExpense({ ...payment, cost: "30.02" }));

assert.equal((await client.getExpenses({ group_id: group.id, limit: 0 })).length, 3);
assert.deepEqual((await client.getFriends()).map((one) => one.id).sort(), [bob.id, carla].sort());
assert((await client.getGroups()).some((one) => one.id === group.id));
assert((await client.getNotifications({ limit: 5 })).length === 5);
assert((await client.getCurrencies()).length > 100);
assert.equal((await client.getCategories()).length, 7);

const stranger = Splitwise({ ...options, accessToken: bob.key });
assert.equal(await stranger.removeUserFromGroup({ group_id: group.id, user_id: bob.id }), true);
await assert.rejects(stranger.getGroup({ id: group.id }));
assert.equal(await client.deleteGroup({ id: group.id }), true);

// Without a key, a program acts for the account that registered it.
const robot = Splitwise({ consumerKey: "robot", consumerSecret: secret });
assert.equal((await robot.getCurrentUser()).first_name, "Robot");
