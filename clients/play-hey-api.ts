/** Plays a trip with @hey-api/openapi-ts: `node generated/compiled/play-hey-api.js <address>`. */
import assert from "node:assert/strict";
import { createClient, createConfig, type Client } from "./generated/hey-api/client/index.js";
import * as api from "./generated/hey-api/sdk.gen.js";
import type { Expense, ExpenseRequest, LoginResponse } from "./generated/hey-api/types.gen.js";

const baseUrl = process.argv[2]!;
const password = "four-green-suitcases";

/** The body of a response, which must be a success. */
async function body<T>(answer: Promise<{ data: T; error: unknown }>): Promise<NonNullable<T>> {
  const { data, error } = await answer;
  assert.equal(error, undefined, JSON.stringify(error));
  return data!;
}

/** A client that is logged in, and the response to its registration. */
async function register(name: string): Promise<[Client, LoginResponse]> {
  const email = `${name}.${Date.now()}@example.net`.toLowerCase();
  const client = createClient(createConfig({ baseUrl }));
  const login = await body(api.register({ client, body: { name, email, password } }));
  client.setConfig({ auth: () => login.token });
  return [client, login];
}

const [olga, { user: olgaUser }] = await register("Olga");
const [ed, { user: edUser, refreshToken }] = await register("Ed");

// -- A trip and a member --
const trip = await body(
  api.createTrip({
    client: olga,
    body: {
      title: "Lisbon in May",
      destination: "Lisbon",
      description: "By train",
      startDate: "2026-05-14",
      endDate: "2026-05-18",
      budget: 900.5,
      joinRole: "EDITOR",
    },
  }),
);
const path = { tripId: trip.id };
const newMember = { email: edUser.email, role: "EDITOR" as const };
const member = await body(api.addMember({ client: olga, path, body: newMember }));
assert.equal(member.user.id, edUser.id);

// -- Every split type --
async function record(
  amount: number,
  splitType: ExpenseRequest["splitType"],
  [ofOlga, ofEd]: number[] = [],
): Promise<Expense> {
  const splitAmounts = ofOlga && ofEd ? { [olgaUser.id]: ofOlga, [edUser.id]: ofEd } : undefined;
  const expense = {
    description: "Dinner in Alfama",
    amount,
    expenseDate: "2026-05-15",
    splitType,
    participantUserIds: [olgaUser.id, edUser.id],
    splitAmounts,
  };
  return body(api.createExpense({ client: olga, path, body: expense }));
}
const equal = await record(62.5, "EQUAL");
const manual = await record(30, "MANUAL", [10, 20]);
const percentage = await record(240, "PERCENTAGE", [60, 40]);
const shares = await record(40, "SHARES", [3, 1]);
assert.deepEqual(
  [equal, manual, percentage, shares].map((expense) => expense.splits.map((split) => split.amount)),
  [[31.25, 31.25], [10, 20], [144, 96], [30, 10]],
);

// -- A PATCH of one field leaves all others as they are --
const renamed = await body(
  api.updateTrip({ client: olga, path, body: { title: "Lisbon in June" } }),
);
assert.deepEqual(renamed, { ...(await body(api.getTrip({ client: olga, path }))) });
const { title, updatedAt, members } = renamed;
assert.deepEqual(renamed, { ...trip, title, updatedAt, members });
assert.equal(title, "Lisbon in June");
const expensePath = { ...path, expenseId: manual.id };
const noted = await body(
  api.updateExpense({ client: olga, path: expensePath, body: { notes: "With a view" } }),
);
assert.deepEqual(noted, { ...manual, notes: "With a view", updatedAt: noted.updatedAt });

// -- Pay, balances, settle up --
const debt = equal.splits.find((split) => split.participant.id === edUser.id)!;
const paid = await body(
  api.paySplit({ client: ed, path: { expenseId: equal.id, splitId: debt.id } }),
);
assert.deepEqual([paid.paid, paid.paidAmount], [true, 31.25]);
async function balances(): Promise<number[]> {
  const rows = await body(api.listBalances({ client: olga, path }));
  return rows.map((row) => row.balance);
}
assert.deepEqual(await balances(), [126, -126]);
const plan = await api.getSettleUpPlan({ client: olga, path });
assert.deepEqual(plan.data?.map((transfer) => transfer.amount), [126]);

// -- A retry with the same key --
const settleUp = {
  client: olga,
  path,
  headers: { "Idempotency-Key": `settle-up-${trip.id}` },
  body: { tag: plan.response.headers.get("ETag")!.replaceAll('"', "") },
};
const first = await api.recordSettleUpPlan(settleUp);
const retry = await api.recordSettleUpPlan(settleUp);
assert.deepEqual(retry.data, first.data);
assert.equal(retry.response.headers.get("Idempotency-Replayed"), "true");
assert.deepEqual(await balances(), [0, 0]);

// -- Errors --
const settlement = { fromUserId: edUser.id, toUserId: olgaUser.id, amount: -5 };
const invalid = await api.createSettlement({ client: olga, path, body: settlement });
assert.deepEqual(Object.keys(invalid.error!.errors!), ["amount"]);
const refused = await api.leaveTrip({ client: olga, path });
assert.deepEqual([refused.response.status, refused.error?.code], [409, "last_owner"]);

// -- A new pair of tokens --
const login = await body(api.refreshToken({ client: ed, body: { refreshToken } }));
ed.setConfig({ auth: () => login.token });
assert.equal((await body(api.getMe({ client: ed }))).id, edUser.id);
const reused = await api.refreshToken({ client: ed, body: { refreshToken } });
assert.equal(reused.response.status, 401);
