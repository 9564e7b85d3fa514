// Sign-in by a one-time link. Whoever may write the file named by the settings puts the hash of a code there;
// who brings the code gets a token of a bounded life, once. Tokens live in memory and end with the server.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync, renameSync, rmSync } from "node:fs";
import type { Identity, TokenMethod } from "#authn";
import type { Clock } from "#base";

/** What the file holds: never the code itself. */
export interface LoginNote {
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
  /** A token and when it ends, or undefined when the code is wrong, used or too old. */
  exchange(code: string): OneTimeToken | undefined;
  readonly tokens: TokenMethod;
}

const tokenMilliseconds = 8 * 3_600_000;
const mostTokens = 64;

export const codeHash = (code: string): string => createHash("sha256").update(code).digest("hex");

export function oneTimeLogin(file: string, clock: Clock): OneTimeLogin {
  const sessions = new Map<string, { readonly identity: Identity; readonly expires: number }>();
  const forgetOld = (): void => {
    for (const [hash, { expires }] of sessions) if (expires <= clock.now()) sessions.delete(hash);
    for (const hash of sessions.keys()) if (sessions.size >= mostTokens) sessions.delete(hash);
  };
  return {
    exchange: (code) => {
      const note = readNote(file);
      if (!note || note.expires <= clock.now() || !isSame(codeHash(code), note.codeHash)) return undefined;
      // Of two who come at once, in this process or another, one moves the file away.
      const taken = `${file}.${process.pid}.used`;
      try {
        renameSync(file, taken);
        rmSync(taken);
      } catch {
        return undefined;
      }
      forgetOld();
      const token = randomBytes(32).toString("base64url");
      const expires = clock.now() + tokenMilliseconds;
      const user = { name: note.user, groups: note.groups };
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

function readNote(file: string): LoginNote | undefined {
  try {
    const note = JSON.parse(readFileSync(file, "utf8")) as Partial<LoginNote>;
    const { codeHash: hash, expires, user, groups } = note;
    const isNote = typeof hash === "string" && typeof expires === "number" && typeof user === "string";
    return isNote && Array.isArray(groups) ? { codeHash: hash, expires, user, groups } : undefined;
  } catch {
    return undefined;
  }
}
