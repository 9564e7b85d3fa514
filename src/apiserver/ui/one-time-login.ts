// Sign-in with a one-time link. A program that can write the configured file stores the hash of a code in it;
// a client that presents the code receives a token of limited lifetime, once. Tokens are kept in memory and
// end with the server.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync, renameSync, rmSync } from "node:fs";
import type { Identity, TokenMethod } from "#authn";
import type { Clock } from "#base";

/** Content of the file; never the code itself. */
export interface LoginFile {
  /** SHA-256 of the code, in hexadecimal. */
  readonly codeHash: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  readonly user: string;
  readonly groups: readonly string[];
}

export interface OneTimeToken {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  readonly user: { readonly name: string; readonly groups: readonly string[] };
}

export interface OneTimeLogin {
  /** Returns a token with its expiry; undefined if the code is wrong, used or expired. */
  exchange(code: string): OneTimeToken | undefined;
  readonly tokens: TokenMethod;
}

const tokenMilliseconds = 8 * 3_600_000;
const maxTokens = 64;

export const codeHash = (code: string): string => createHash("sha256").update(code).digest("hex");

export function oneTimeLogin(file: string, clock: Clock): OneTimeLogin {
  const sessions = new Map<string, { readonly identity: Identity; readonly expires: number }>();
  const dropOldTokens = (): void => {
    for (const [hash, { expires }] of sessions) if (expires <= clock.now()) sessions.delete(hash);
    for (const hash of sessions.keys()) if (sessions.size >= maxTokens) sessions.delete(hash);
  };
  return {
    exchange: (code) => {
      const login = readLoginFile(file);
      if (!login || login.expires <= clock.now() || !isSame(codeHash(code), login.codeHash)) return undefined;
      // Renaming the file decides between concurrent attempts, in this process or others: only one succeeds.
      const taken = `${file}.${process.pid}.used`;
      try {
        renameSync(file, taken);
        rmSync(taken);
      } catch {
        return undefined;
      }
      dropOldTokens();
      const token = randomBytes(32).toString("base64url");
      const expires = clock.now() + tokenMilliseconds;
      const user = { name: login.user, groups: login.groups };
      const identity: Identity = { user };
      sessions.set(codeHash(token), { identity, expires });
      return { token, expires, user };
    },
    tokens: {
      identify: (token) => {
        if (sessions.size === 0) return undefined;
        const found = sessions.get(codeHash(token));
        return found && found.expires > clock.now() ? found.identity : undefined;
      },
    },
  };
}

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

function readLoginFile(file: string): LoginFile | undefined {
  try {
    const login = JSON.parse(readFileSync(file, "utf8")) as Partial<LoginFile>;
    const { codeHash: hash, expires, user, groups } = login;
    const isValid = typeof hash === "string" && typeof expires === "number" && typeof user === "string";
    return isValid && Array.isArray(groups) ? { codeHash: hash, expires, user, groups } : undefined;
  } catch {
    return undefined;
  }
}
