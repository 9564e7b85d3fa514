// Limits the rate of events: in total, by namespace, by user, or by source and object.
import { ApiError, type Clock } from "#base";
import type { AdmissionAttributes, AdmissionPlugin } from "../attributes.ts";

export interface EventLimit {
  readonly type: "Server" | "Namespace" | "User" | "SourceAndObject";
  readonly perSecond: number;
  readonly burst: number;
  /** Maximum number of keys; the least recently used one is evicted. */
  readonly maxKeys: number;
}

/** Every limit is charged, even when another one refuses the event. */
export function eventRateLimit(limits: readonly EventLimit[], clock: Clock): AdmissionPlugin {
  const buckets = limits.map((limit) => ({ limit, take: bucketsOf(limit, clock) }));
  return {
    name: "EventRateLimit",
    handles: ["CREATE", "UPDATE"],
    resources: ["events"],
    validate: async (attributes) => {
      if (attributes.resource.group !== "" || attributes.subresource || attributes.dryRun) return [];
      const refused = buckets.flatMap(({ limit: { type }, take }) => {
        const key = keyOf(type, attributes);
        return take(key) ? [] : [`limit reached on type ${type} for key ${key}`];
      });
      if (refused.length === 0) return [];
      const text = refused.length === 1 ? refused[0]! : `[${[...new Set(refused)].join(", ")}]`;
      throw new ApiError(429, "TooManyRequests", `Too many requests: ${text}`);
    },
  };
}

interface EventParts {
  readonly deprecatedSource?: Source;
  readonly source?: Source;
  readonly regarding?: Reference;
  readonly involvedObject?: Reference;
}
interface Source {
  readonly component?: string;
  readonly host?: string;
}
interface Reference {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiVersion?: string;
}

function keyOf(type: EventLimit["type"], { namespace, user, object }: AdmissionAttributes): string {
  if (type === "Server") return "";
  if (type === "Namespace") return namespace;
  if (type === "User") return user.name;
  const parts = (object ?? {}) as EventParts;
  const { component, host } = parts.deprecatedSource ?? parts.source ?? {};
  const about = parts.regarding ?? parts.involvedObject ?? {};
  return [component, host, about.kind, about.namespace, about.name, about.uid, about.apiVersion].join("");
}

/** Token buckets by key, refilled at the limit's rate. */
function bucketsOf({ perSecond, burst, maxKeys }: EventLimit, clock: Clock): (key: string) => boolean {
  const known = new Map<string, { tokens: number; at: number }>();
  return (key) => {
    const now = clock.monotonic();
    const bucket = known.get(key) ?? { tokens: burst, at: now };
    known.delete(key);
    known.set(key, bucket);
    if (known.size > maxKeys) known.delete(known.keys().next().value!);
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  };
}
