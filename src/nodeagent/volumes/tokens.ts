// Service account tokens for pods: requested when needed, cached, and refreshed after four fifths of their
// lifetime.
import type { Pod } from "#api";
import { ApiError, type Clock, type Log, millisOfTime, timeOfMillis } from "#base";
import { type ApiClient, kinds } from "#client";
import { nameOf, namespaceOf, uidOf } from "../pod.ts";

export interface PodTokens {
  get(pod: Pod, audience: string, expirationSeconds: number): Promise<string>;
  /** Returns the token together with its expiration time. */
  request(
    pod: Pod,
    audience: string,
    expirationSeconds: number,
  ): Promise<{ readonly token: string; readonly expirationTimestamp: string }>;
  forget(podUid: string): void;
}

interface Held {
  readonly token: string;
  readonly from: number;
  readonly until: number;
}

const oldestMilliseconds = 24 * 3_600_000;
const jitterMilliseconds = 10_000;

export function podTokens({
  client,
  clock,
  log,
}: {
  readonly client: ApiClient | undefined;
  readonly clock: Clock;
  readonly log: Log;
}): PodTokens {
  const held = new Map<string, Map<string, Held>>();
  const current = async (pod: Pod, audience: string, expirationSeconds: number): Promise<Held> => {
    const ofPod = held.get(uidOf(pod)) ?? new Map<string, Held>();
    held.set(uidOf(pod), ofPod);
    const key = JSON.stringify([audience, expirationSeconds, pod.spec.serviceAccountName]);
    const old = ofPod.get(key);
    if (old && !needsRefresh(old, clock.now())) return old;
    try {
      const fresh = await requestToken(pod, audience, expirationSeconds);
      ofPod.set(key, fresh);
      return fresh;
    } catch (error) {
      if (!old || clock.now() >= old.until) throw error;
      log.warn("failed to refresh service account token; keeping the current one", {
        pod: `${namespaceOf(pod)}/${nameOf(pod)}`,
        error: (error as Error).message,
      });
      return old;
    }
  };
  return {
    get: async (pod, audience, expirationSeconds) => (await current(pod, audience, expirationSeconds)).token,
    request: async (pod, audience, expirationSeconds) => {
      const { token, until } = await current(pod, audience, expirationSeconds);
      return { token, expirationTimestamp: timeOfMillis(until) };
    },
    forget: (uid) => void held.delete(uid),
  };

  async function requestToken(pod: Pod, audience: string, expirationSeconds: number): Promise<Held> {
    if (!client) throw new Error("cannot use TokenManager when the agent is in standalone mode");
    const account = pod.spec.serviceAccountName || "default";
    const from = clock.now();
    const request = {
      metadata: { namespace: namespaceOf(pod) },
      spec: {
        audiences: audience ? [audience] : [],
        expirationSeconds,
        boundObjectRef: { kind: "Pod", apiVersion: "v1", name: nameOf(pod), uid: uidOf(pod) },
      },
    };
    try {
      const { status } = await client
        .of(kinds.tokenRequests)
        .create(request, { name: account, subresource: "token" });
      return { token: status.token, from, until: millisOfTime(status.expirationTimestamp!) };
    } catch (error) {
      if (error instanceof ApiError)
        throw new Error(`failed to fetch token: ${error.message}`, { cause: error });
      throw error;
    }
  }
}

function needsRefresh({ from, until }: Held, now: number): boolean {
  return (
    now - from > oldestMilliseconds ||
    now >= until - (until - from) / 5 - Math.random() * Math.min(jitterMilliseconds, (until - from) / 100)
  );
}
