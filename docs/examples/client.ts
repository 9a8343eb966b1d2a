/** What a front end needs to call Trip Companion: log-in, refresh, errors, paging, retries. */

export type Problem = {
  status: number;
  code: string;
  detail: string;
  requestId: string;
  errors?: Record<string, string[]>;
};

export class ApiError extends Error {
  constructor(readonly problem: Problem, readonly retryAfterSeconds: number) {
    super(problem.detail);
  }
}

export type Tokens = { token: string; refreshToken: string; user: { id: number; name: string } };

export type Page<T> = {
  items: T[];
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
};

type Figure = number | string;
export type Item = { name: string; amount: Figure; shares: Record<string, Figure> };
export type NewExpense = {
  description: string;
  amount: Figure;
  expenseDate: string;
} & (
  | {} // the `defaultDivision` of the trip
  | { splitType: "EQUAL"; participantUserIds: number[] }
  | {
      splitType: "MANUAL" | "PERCENTAGE" | "SHARES" | "ADJUSTMENT";
      participantUserIds: number[];
      splitAmounts: Record<string, Figure>;
    }
  | { splitType: "ITEMIZED"; items: Item[]; tax?: Figure; tip?: Figure; discount?: Figure }
);

const wait = (seconds: number) => new Promise((done) => setTimeout(done, seconds * 1000));

export class Client {
  constructor(
    private readonly base: string,
    private readonly store: Storage = localStorage,
  ) {}

  get tokens(): Tokens | null {
    return JSON.parse(this.store.getItem("tokens") ?? "null");
  }

  async logIn(email: string, password: string): Promise<Tokens> {
    const response = await this.send("POST", "/users/login", { email, password }, {}, null);
    return this.keep(await result<Tokens>(response));
  }

  async logOut(): Promise<void> {
    const tokens = this.tokens;
    this.store.removeItem("tokens");
    if (tokens) {
      const body = { refreshToken: tokens.refreshToken };
      await result(await this.send("POST", "/users/logout", body, {}, null));
    }
  }

  /** Send a request; if the access token has expired, refresh it and send the request again. */
  async request<T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const used = this.tokens;
    let response = await this.send(method, path, body, headers, used);
    if (response.status === 401 && used) {
      await this.refresh(used);
      response = await this.send(method, path, body, headers, this.tokens);
    }
    return result<T>(response);
  }

  /** A refresh token works once, so only one request in one tab may use it. */
  private async refresh(used: Tokens): Promise<void> {
    await navigator.locks.request("refresh", async () => {
      if (this.tokens?.token !== used.token) {
        return; // Another request or tab has refreshed it, or has logged out.
      }
      const body = { refreshToken: used.refreshToken };
      const response = await this.send("POST", "/users/token/refresh", body, {}, null);
      if (response.status === 401) {
        this.store.removeItem("tokens"); // Show the log-in form.
      }
      this.keep(await result<Tokens>(response));
    });
  }

  /** POST until there is an answer. `key` makes the service act once, however often it is sent. */
  async post<T>(path: string, body: unknown, key: string = crypto.randomUUID()): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.request<T>("POST", path, body, { "Idempotency-Key": key });
      } catch (error) {
        if (attempt === 4 || !isTemporary(error)) throw error;
        const asked = error instanceof ApiError ? error.retryAfterSeconds : 0;
        await wait(asked || 2 ** attempt);
      }
    }
  }

  /** Every row of a paginated list, page by page. */
  async *all<T>(path: string): AsyncGenerator<T> {
    const query = path.includes("?") ? "&" : "?";
    for (let page = 1, totalPages = 1; page <= totalPages; page++) {
      const found = await this.request<Page<T>>("GET", `${path}${query}page=${page}&pageSize=100`);
      yield* found.items;
      totalPages = found.totalPages;
    }
  }

  private keep(tokens: Tokens): Tokens {
    this.store.setItem("tokens", JSON.stringify(tokens));
    return tokens;
  }

  private send(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
    tokens: Tokens | null,
  ): Promise<Response> {
    const all = new Headers(headers);
    if (tokens) all.set("Authorization", `Bearer ${tokens.token}`);
    if (body !== undefined) all.set("Content-Type", "application/json");
    return fetch(this.base + path, { method, headers: all, body: JSON.stringify(body) });
  }
}

async function result<T>(response: Response): Promise<T> {
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T;
  const seconds = Number(response.headers.get("Retry-After") ?? 0);
  const isProblem = response.headers.get("Content-Type")?.includes("problem+json");
  const problem: Problem = isProblem
    ? await response.json() // A proxy in front has its own error pages.
    : { status: response.status, code: "unknown", detail: response.statusText, requestId: "" };
  throw new ApiError(problem, seconds);
}

/** `fetch` throws a TypeError if there is no connection. */
export function isTemporary(error: unknown): boolean {
  const status = error instanceof ApiError ? error.problem.status : 0;
  return error instanceof TypeError || status === 429 || status >= 500;
}

type Waiting = { key: string; path: string; body: unknown };

/** Writes that wait for a connection, oldest first. They survive a reload. */
export class Outbox {
  constructor(
    private readonly client: Client,
    private readonly store: Storage = localStorage,
  ) {}

  get waiting(): Waiting[] {
    return JSON.parse(this.store.getItem("outbox") ?? "[]");
  }

  add(path: string, body: unknown): void {
    this.save([...this.waiting, { key: crypto.randomUUID(), path, body }]);
  }

  /** Call it on start and on the window's `online` event. Returns what the service refused. */
  async flush(): Promise<[Waiting, ApiError][]> {
    const refused: [Waiting, ApiError][] = [];
    for (const write of this.waiting) {
      try {
        await this.client.post(write.path, write.body, write.key);
      } catch (error) {
        if (!(error instanceof ApiError) || isTemporary(error)) break; // Still offline.
        refused.push([write, error]);
      }
      this.save(this.waiting.filter((other) => other.key !== write.key));
    }
    return refused;
  }

  private save(writes: Waiting[]): void {
    this.store.setItem("outbox", JSON.stringify(writes));
  }
}
