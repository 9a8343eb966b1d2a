/** Plays a trip with the package in typescript/: `node generated/compiled/play.js <address>`. */
import assert from "node:assert/strict";
import { createClient, stayLoggedIn, watch, type Schemas, type TripCompanion } from "trip-companion-client";

const baseUrl = process.argv[2]!;
const password = "four-green-suitcases";

/** The body of a response, which must be a success. */
async function body<T>(answer: Promise<{ data?: T; error?: unknown }>): Promise<T> {
  const { data, error } = await answer;
  assert.equal(error, undefined, JSON.stringify(error));
  return data!;
}

async function register(name: string): Promise<[TripCompanion, Schemas["LoginResponse"]]> {
  const client = createClient({ baseUrl });
  const email = `${name}.${Date.now()}@example.com`.toLowerCase();
  const login = await body(client.POST("/api/users/register", { body: { name, email, password } }));
  client.use(stayLoggedIn(client, login));
  return [client, login];
}

const [olga, olgaLogin] = await register("Olga");
const [ed, edLogin] = await register("Ed");
const [olgaId, edId] = [olgaLogin.user.id, edLogin.user.id];

// -- A trip and a member --
const trip = await body(
  olga.POST("/api/trips", {
    body: {
      title: "Lisbon in May",
      destination: "Lisbon",
      description: "By train",
      startDate: "2026-05-14",
      endDate: "2026-05-18",
      budget: 900.5,
      currency: "EUR",
      joinRole: "EDITOR",
    },
  }),
);
const path = { tripId: trip.id };
const member = await body(
  olga.POST("/api/trips/{tripId}/members", { params: { path }, body: { userId: edId, role: "EDITOR" } }),
);
assert.equal(member.role, "EDITOR");

// -- Every split type --
type Division = Pick<Schemas["ExpenseRequest"], "splitType" | "splitAmounts">;
async function recordExpense(amount: number, division: Division): Promise<Schemas["Expense"]> {
  const expense = await body(
    olga.POST("/api/trips/{tripId}/expenses", {
      params: { path },
      body: {
        description: `Dinner, ${division.splitType}`,
        amount,
        expenseDate: "2026-05-15",
        participantUserIds: [olgaId, edId],
        ...division,
      },
    }),
  );
  assert.equal(expense.category, "OTHER");
  return expense;
}
const amounts = (expense: Schemas["Expense"]) => expense.splits.map((split) => split.amount);

const equal = await recordExpense(62.5, { splitType: "EQUAL" });
assert.deepEqual(amounts(equal), [31.25, 31.25]);
const manual = await recordExpense(30, {
  splitType: "MANUAL",
  splitAmounts: { [olgaId]: 10, [edId]: 20 },
});
assert.deepEqual(amounts(manual), [10, 20]);
const percentage = await recordExpense(240, {
  splitType: "PERCENTAGE",
  splitAmounts: { [olgaId]: 60, [edId]: 40 },
});
assert.deepEqual(amounts(percentage), [144, 96]);
const shares = await recordExpense(40, {
  splitType: "SHARES",
  splitAmounts: { [olgaId]: 3, [edId]: 1 },
});
assert.deepEqual(amounts(shares), [30, 10]);

// -- A PATCH of one field leaves all others as they are --
const renamed = await body(
  olga.PATCH("/api/trips/{tripId}", { params: { path }, body: { title: "Lisbon in June" } }),
);
assert.deepEqual(renamed, { ...trip, members: renamed.members, title: "Lisbon in June", updatedAt: renamed.updatedAt });
const expensePath = { ...path, expenseId: manual.id };
const noted = await body(
  olga.PATCH("/api/trips/{tripId}/expenses/{expenseId}", {
    params: { path: expensePath },
    body: { notes: "With a view" },
  }),
);
assert.deepEqual(noted, { ...manual, notes: "With a view", updatedAt: noted.updatedAt });

// -- Pay, balances, settle up --
const debt = equal.splits.find((split) => split.participant.id === edId)!;
const paid = await body(
  ed.PUT("/api/expenses/{expenseId}/splits/{splitId}/pay", {
    params: { path: { expenseId: equal.id, splitId: debt.id } },
  }),
);
assert.deepEqual([paid.paid, paid.paidAmount], [true, 31.25]);
const balances = async () => {
  const rows = await body(olga.GET("/api/trips/{tripId}/balances", { params: { path } }));
  return rows.map((row) => row.balance);
};
assert.deepEqual(await balances(), [126, -126]);
const { data: plan, response } = await olga.GET("/api/trips/{tripId}/settle-up", { params: { path } });
assert.deepEqual(plan!.map((transfer) => [transfer.from.id, transfer.amount]), [[edId, 126]]);

// -- A retry with the same key --
const settle = () =>
  olga.POST("/api/trips/{tripId}/settle-up", {
    params: { path, header: { "Idempotency-Key": `settle-up-${trip.id}` } },
    body: { tag: response.headers.get("ETag")!.replaceAll('"', "") },
  });
const [first, retry] = [await settle(), await settle()];
assert.deepEqual(retry.data, first.data);
assert.equal(retry.response.headers.get("Idempotency-Replayed"), "true");
assert.deepEqual(await balances(), [0, 0]);

// -- Changes, as they happen --
const { cursor } = (await body(ed.GET("/api/changes"))) as Schemas["Changes"];
const stop = new AbortController();
const titles: unknown[] = [];
const watching = watch(
  ed,
  ({ items }) => {
    titles.push(...items.map(({ event, state }) => [event, (state as Schemas["Trip"]).title]));
    stop.abort();
  },
  { since: cursor, signal: stop.signal },
);
await body(olga.PATCH("/api/trips/{tripId}", { params: { path }, body: { title: "Porto in June" } }));
await body(olga.PATCH("/api/trips/{tripId}", { params: { path }, body: { title: "Lisbon in June" } }));
await watching;
assert.equal((titles[0] as string[])[0], "trip.changed");
await assert.rejects(watch(ed, () => {}, { since: "no cursor" }), { code: "invalid" });

// -- Errors --
const invalid = await olga.POST("/api/trips/{tripId}/settlements", {
  params: { path },
  body: { fromUserId: edId, toUserId: olgaId, amount: -5 },
});
assert.equal(invalid.response.status, 400);
assert.deepEqual(Object.keys(invalid.error!.errors!), ["amount"]);
const refused = await olga.POST("/api/trips/{tripId}/members/leave", { params: { path } });
assert.deepEqual([refused.response.status, refused.error?.code], [409, "last_owner"]);

// -- Concurrent requests with an expired token share one refresh --
const renewals: string[] = [];
const expired = createClient({ baseUrl });
expired.use(
  stayLoggedIn(expired, { ...edLogin, expiresIn: 0 }, (tokens) => renewals.push(tokens.refreshToken)),
);
const [me, trips] = await Promise.all([
  body(expired.GET("/api/users/me")),
  body(expired.GET("/api/trips", { params: { query: { pageSize: 5 } } })),
]);
assert.equal(me.id, edId);
assert.deepEqual([trips.total, trips.items[0]?.title], [1, "Lisbon in June"]);
assert.equal(renewals.length, 1);
const reused = await olga.POST("/api/users/token/refresh", {
  body: { refreshToken: edLogin.refreshToken },
});
assert.equal(reused.response.status, 401);
