/** A client of the Trip Companion API: openapi-fetch with the types of openapi.yaml. */
import { type Client, type ClientOptions, type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema.js";
export type { components, operations, paths } from "./schema.js";
export type Schemas = components["schemas"];
export type TripCompanion = Client<paths>;
/** The tokens of a response to registration, log-in or refresh. */
export type Tokens = Pick<Schemas["LoginResponse"], "token" | "expiresIn" | "refreshToken">;
/** `baseUrl` is the address of the service, without `/api`. */
export declare function createClient(options: ClientOptions & {
    baseUrl: string;
}): TripCompanion;
/**
 * Middleware that sends the access token with every request and renews it before it expires.
 *
 * A refresh token works once, and using it again ends the session, so requests that are sent at the
 * same time wait for one refresh. If that is refused, they are sent as they are and receive a 401.
 * `onRenewed` is called with every new pair of tokens.
 */
export declare function stayLoggedIn(client: TripCompanion, login: Tokens, onRenewed?: (tokens: Tokens) => void): Middleware;
/**
 * Calls `onChanges` with what changes in the trips of the account, until `signal` is aborted.
 *
 * `since` is the cursor of the last changes that were applied; without it, it begins now. While the
 * service is away or asks to wait, it waits. Rejects with the `Problem` if that does not help: a
 * cursor that has expired, or a session that has ended.
 */
export declare function watch(client: TripCompanion, onChanges: (changes: Schemas["Changes"]) => void | Promise<void>, { since, signal }?: {
    since?: string;
    signal?: AbortSignal;
}): Promise<void>;
