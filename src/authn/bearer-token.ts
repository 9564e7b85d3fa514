// Bearer tokens: extraction from requests, and the methods that identify them, tried in order.

import { type Authenticator, BadCredential, type Credentials, badCredentialOf } from "./authenticator.ts";
import { type Identity, authenticated } from "./user.ts";

/**
 * Identifies one kind of token. Returns undefined for tokens of other kinds; throws BadCredential for an
 * invalid token of its kind.
 */
export interface TokenMethod {
  identify(token: string, audiences: readonly string[]): Promise<Identity | undefined> | Identity | undefined;
}

/**
 * Returns the token of an Authorization header: the scheme is case-insensitive, one space, then up to the
 * next space. An empty token counts as absent.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (!authorization) return undefined;
  if (authorization.startsWith("Bearer ") && !authorization.includes(" ", 7))
    return authorization.length > 7 ? authorization.slice(7) : undefined;
  const [scheme = "", token = ""] = authorization.trim().split(" ", 2);
  return scheme.toLowerCase() === "bearer" && token !== "" ? token : undefined;
}

/** Reports whether more than one space follows the scheme, in which case there is no token. */
export const hasExtraSpaces = (authorization: string): boolean => /^\s*bearer {2,}[^ ]/i.test(authorization);

/** Returns the first identity found for the token. A token that no method recognizes is bad. */
export function identifyToken(
  methods: readonly TokenMethod[],
  token: string,
  audiences: readonly string[],
): Identity | Promise<Identity> {
  for (let at = 0; at < methods.length; at++) {
    let found;
    try {
      found = methods[at]!.identify(token, audiences);
    } catch (error) {
      found = Promise.reject(error);
    }
    if (found instanceof Promise) return identifyAfter(found, methods.slice(at + 1), token, audiences);
    if (found) return authenticated(found);
  }
  throw unknownToken([]);
}

/** Continues with the other methods after an asynchronous or failed one. */
async function identifyAfter(
  first: Promise<Identity | undefined>,
  others: readonly TokenMethod[],
  token: string,
  audiences: readonly string[],
): Promise<Identity> {
  const errors: Error[] = [];
  let found = first;
  for (let at = 0; ; at++) {
    try {
      const identity = await found;
      if (identity) return authenticated(identity);
    } catch (error) {
      errors.push(error as Error);
    }
    const next = others[at];
    if (!next) throw unknownToken(errors);
    found = (async () => next.identify(token, audiences))();
  }
}

const unknownToken = (errors: readonly Error[]): BadCredential =>
  badCredentialOf([new BadCredential("invalid bearer token"), ...errors]);

/** Authenticates tokens in Authorization headers. */
export const bearerTokens = (
  methods: readonly TokenMethod[],
  audiences: readonly string[],
): Authenticator => ({
  authenticate: ({ bearerToken: token }) => (token ? identifyToken(methods, token, audiences) : undefined),
});

/** Restricts a method that does not support audiences to those of this server. */
export function audienceAgnostic(method: TokenMethod, own: readonly string[]): TokenMethod {
  // The requested audiences are usually one constant array: their intersection with ours is computed once.
  const sharedWith = new WeakMap<readonly string[], readonly string[]>();
  const restricted = new WeakMap<readonly string[], WeakMap<Identity, Identity>>();
  const restrict = (identity: Identity | undefined, shared: readonly string[]): Identity | undefined =>
    identity &&
    restricted
      .getOrInsertComputed(shared, () => new WeakMap<Identity, Identity>())
      .getOrInsertComputed(identity, () => ({ ...identity, audiences: shared }));
  return {
    identify: (token, audiences) => {
      if (!audiences.length) return method.identify(token, audiences);
      const shared = sharedWith.getOrInsertComputed(audiences, () =>
        audiences.filter((audience) => own.includes(audience)),
      );
      if (!shared.length) return undefined;
      const found = method.identify(token, audiences);
      return found instanceof Promise
        ? found.then((identity) => restrict(identity, shared))
        : restrict(found, shared);
    },
  };
}

/**
 * Returns the token of a WebSocket upgrade. Browsers cannot set Authorization on it: they send the token as a
 * subprotocol, `<prefix><base64url>`, in addition to a real one.
 */
export function webSocketToken(credentials: Credentials, prefix: string): string | undefined {
  const upgrades = credentials.headers("upgrade").some((value) => value.toLowerCase() === "websocket");
  if (!upgrades) return undefined;
  const { tokens, others } = splitProtocols(credentials.headers("sec-websocket-protocol"), prefix);
  if (tokens.length > 1) throw new BadCredential("multiple bearer token subprotocols given");
  const [encoded] = tokens;
  if (encoded === undefined) return undefined;
  if (!/^[\w-]*$/.test(encoded)) throw new BadCredential("the bearer token subprotocol is not base64url");
  const token = decodeUtf8(Buffer.from(encoded, "base64url"));
  if (token === "") return undefined;
  if (!others.length)
    throw new BadCredential("a bearer token subprotocol needs another subprotocol beside it");
  return token;
}

/** Returns the subprotocols without tokens, for the handler. */
export const protocolsWithoutToken = (values: readonly string[], prefix: string): string[] =>
  splitProtocols(values, prefix).others;

/** Authenticates tokens sent as WebSocket subprotocols. */
export const webSocketTokens = (
  methods: readonly TokenMethod[],
  audiences: readonly string[],
  prefix: string,
): Authenticator => ({
  authenticate: (credentials) => {
    const token = webSocketToken(credentials, prefix);
    return token === undefined ? undefined : identifyToken(methods, token, audiences);
  },
});

function splitProtocols(values: readonly string[], prefix: string): { tokens: string[]; others: string[] } {
  const all = values.flatMap((value) => value.split(",")).map((value) => value.trim());
  return {
    tokens: all.filter((value) => value.startsWith(prefix)).map((value) => value.slice(prefix.length)),
    others: all.filter((value) => !value.startsWith(prefix)),
  };
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new BadCredential("the bearer token subprotocol is not text");
  }
}
