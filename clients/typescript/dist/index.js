/** A client of the Trip Companion API: openapi-fetch with the types of openapi.yaml. */
import createFetchClient from "openapi-fetch";
/** `baseUrl` is the address of the service, without `/api`. */
export function createClient(options) {
    return createFetchClient(options);
}
/**
 * Middleware that sends the access token with every request and renews it before it expires.
 *
 * A refresh token works once, and using it again ends the session, so requests that are sent at the
 * same time wait for one refresh. If that is refused, they are sent as they are and receive a 401.
 * `onRenewed` is called with every new pair of tokens.
 */
export function stayLoggedIn(client, login, onRenewed) {
    let tokens = login;
    let renewAt = renewalTime(login);
    let renewing;
    async function renew() {
        const body = { refreshToken: tokens.refreshToken };
        const { data } = await client.POST("/api/users/token/refresh", { body });
        if (data) {
            tokens = data;
            renewAt = renewalTime(data);
            onRenewed?.(data);
        }
    }
    return {
        async onRequest({ request, schemaPath }) {
            if (schemaPath === "/api/users/token/refresh")
                return;
            if (Date.now() >= renewAt) {
                renewing ??= renew().finally(() => (renewing = undefined));
                await renewing;
            }
            request.headers.set("Authorization", `Bearer ${tokens.token}`);
            return request;
        },
    };
}
/**
 * Calls `onChanges` with what changes in the trips of the account, until `signal` is aborted.
 *
 * `since` is the cursor of the last changes that were applied; without it, it begins now. While the
 * service is away or asks to wait, it waits. Rejects with the `Problem` if that does not help: a
 * cursor that has expired, or a session that has ended.
 */
export async function watch(client, onChanges, { since, signal } = {}) {
    let cursor = since;
    while (!signal?.aborted) {
        const query = cursor === undefined ? {} : { since: cursor, wait: 25 };
        const answer = await client
            .GET("/api/changes", { params: { query }, signal })
            .catch((reason) => {
            if (!signal?.aborted && !(reason instanceof TypeError))
                throw reason;
        });
        if (answer?.data) {
            // Without another `Accept`, it is no stream of events.
            const changes = answer.data;
            if (changes.items.length)
                await onChanges(changes);
            cursor = changes.cursor;
        }
        else if (!answer || answer.response.status === 429 || answer.response.status >= 500) {
            const seconds = Number(answer?.response.headers.get("Retry-After") ?? 3);
            await new Promise((resolve) => setTimeout(resolve, signal?.aborted ? 0 : seconds * 1000));
        }
        else {
            throw answer.error;
        }
    }
}
/** When nine tenths of the access token's lifetime are over, in milliseconds. */
function renewalTime(tokens) {
    return Date.now() + tokens.expiresIn * 900;
}
