// Bootstrap tokens, `<id>.<secret>`: short-lived credentials of joining machines, stored as secrets in the
// system namespace.
import { timingSafeEqual } from "node:crypto";
import type { Secret } from "#api";
import { type Clock, millisOfTime } from "#base";
import type { Dialect } from "#dialect";
import type { TokenMethod } from "./bearer-token.ts";

export interface BootstrapTokenOptions {
  readonly dialect: Dialect;
  readonly clock: Clock;
  /** Returns a secret of the system namespace. */
  readonly secret: (name: string) => Promise<Secret | undefined> | Secret | undefined;
}

const form = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const group = "system:bootstrappers";
const extraGroup = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** Identifies bootstrap tokens. An invalid token is not an error: another method may recognize it. */
export function bootstrapTokens({ dialect, clock, secret: find }: BootstrapTokenOptions): TokenMethod {
  return {
    identify: async (token) => {
      const [, id, given] = form.exec(token) ?? [];
      if (id === undefined || given === undefined) return undefined;
      const secret = await find(`bootstrap-token-${id}`);
      if (!secret || secret.metadata.deletionTimestamp) return undefined;
      if (secret.type !== dialect.names.secretTypes.bootstrapToken) return undefined;
      const field = (name: string): string => Buffer.from(secret.data?.[name] ?? "", "base64").toString();
      if (!same(field("token-secret"), given) || field("token-id") !== id) return undefined;
      if (isExpired(field("expiration"), clock.now())) return undefined;
      if (field("usage-bootstrap-authentication") !== "true") return undefined;
      const groups = groupsOf(field("auth-extra-groups"));
      return groups && { user: { name: `system:bootstrap:${id}`, groups } };
    },
  };
}

function same(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Reports whether the time has passed; an invalid time counts as expired. */
function isExpired(text: string, now: number): boolean {
  if (text === "") return false;
  try {
    return millisOfTime(text) <= now;
  } catch {
    return true;
  }
}

/** Returns the groups of a token, or undefined if one of them is not allowed, which rejects the token. */
function groupsOf(text: string): string[] | undefined {
  const extra = text === "" ? [] : text.split(",");
  if (!extra.every((name) => extraGroup.test(name))) return undefined;
  return [...new Set([group, ...extra])].toSorted();
}
