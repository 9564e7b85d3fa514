// Leader election over a Lease: one of several processes is active, and another takes over when it stops
// renewing.
import type { Lease } from "#api";
import { type Clock, type Log, microTimeOfMillis } from "#base";
import { type AnyObject, type ApiClient, kinds } from "#client";
import { isAlreadyExists, isConflict, orUndefined } from "./ignore-reasons.ts";

export interface ElectionOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly namespace: string;
  readonly name: string;
  /** The identity of this process; unique among all candidates. */
  readonly identity: string;
  /** How long candidates wait after the last observed renewal before they take the lease over. */
  readonly leaseMilliseconds: number;
  /** The leader gives up leadership after failing to renew for this long. */
  readonly renewMilliseconds: number;
  readonly retryMilliseconds: number;
  /** Called whenever the lease was acquired or renewed. */
  readonly onRenewal?: (() => void) | undefined;
}

/** Waits for leadership and runs; resolves when leadership was lost or the signal aborted. */
export async function runAsLeader(
  options: ElectionOptions,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<"lost" | "stopped"> {
  const { clock, signal, log, identity } = options;
  const elector = leaseElector(options);
  const pause = (): Promise<void> => clock.sleep(options.retryMilliseconds, signal).catch(() => undefined);
  // The lease runs from the start of the attempt, however late its response arrives.
  let renewedAt = clock.monotonic();
  while (!(await elector.tryAcquire())) {
    if (signal.aborted) return "stopped";
    await pause();
    renewedAt = clock.monotonic();
  }
  options.onRenewal?.();
  log.info("became leader", { identity, lease: options.name });
  const ending = new AbortController();
  const running = run(AbortSignal.any([signal, ending.signal]));
  try {
    while (!signal.aborted) {
      await pause();
      if (signal.aborted) break;
      const startedAt = clock.monotonic();
      // A server that does not respond must not delay the loss: others take the lease over meanwhile.
      const left = options.renewMilliseconds - (startedAt - renewedAt);
      if (await within(clock, left, elector.tryAcquire())) {
        renewedAt = startedAt;
        options.onRenewal?.();
      } else if (clock.monotonic() - renewedAt >= options.renewMilliseconds) {
        log.error("lost the lease", { identity, lease: options.name });
        return "lost";
      }
    }
    return "stopped";
  } finally {
    ending.abort();
    await running;
    await within(clock, options.renewMilliseconds, elector.release());
  }
}

/** Resolves with undefined if the attempt takes longer. */
async function within<T>(clock: Clock, milliseconds: number, attempt: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const cancel = clock.after(Math.max(0, milliseconds), () => late.resolve(undefined));
  try {
    return await Promise.race([attempt, late.promise]);
  } finally {
    cancel();
  }
}

interface Elector {
  /** Acquires or renews the lease; reports whether this process holds it. */
  tryAcquire(): Promise<boolean>;
  /** Releases the lease so that another candidate can acquire it immediately. */
  release(): Promise<void>;
}

function leaseElector(options: ElectionOptions): Elector {
  const { client, clock, log, namespace, name, identity, leaseMilliseconds } = options;
  const leases = client.of(kinds.leases);
  /** The last observed record of another holder, with the local time of observation: clocks may be skewed. */
  let observed: { readonly text: string; readonly at: number } | undefined;
  const leaseDurationSeconds = Math.ceil(leaseMilliseconds / 1000);
  const specFor = (before: (Lease & AnyObject)["spec"] | undefined): (Lease & AnyObject)["spec"] => {
    const now = microTimeOfMillis(clock.now());
    const isOurs = before?.holderIdentity === identity;
    return {
      holderIdentity: identity,
      leaseDurationSeconds,
      acquireTime: isOurs && before.acquireTime ? before.acquireTime : now,
      renewTime: now,
      leaseTransitions: (before?.leaseTransitions ?? 0) + (before && !isOurs ? 1 : 0),
    };
  };
  return {
    tryAcquire: async () => {
      try {
        const lease = await orUndefined(leases.get(name, { namespace }));
        if (!lease) {
          await leases.create({ metadata: { name, namespace }, spec: specFor(undefined) });
          return true;
        }
        const { holderIdentity, renewTime } = lease.spec;
        if (holderIdentity && holderIdentity !== identity) {
          const text = `${holderIdentity} ${renewTime}`;
          if (observed?.text !== text) observed = { text, at: clock.monotonic() };
          if (clock.monotonic() - observed.at < leaseMilliseconds) return false;
        }
        await leases.update({ ...lease, spec: specFor(lease.spec) });
        return true;
      } catch (error) {
        if (!isConflict(error) && !isAlreadyExists(error))
          log.verbose(1, "lease not written", { lease: name, error: (error as Error).message });
        return false;
      }
    },
    release: async () => {
      const lease = await orUndefined(leases.get(name, { namespace })).catch(() => undefined);
      if (lease?.spec.holderIdentity !== identity) return;
      const spec = { ...specFor(lease.spec), holderIdentity: "", leaseDurationSeconds: 1 };
      await leases.update({ ...lease, spec }).catch(() => undefined);
    },
  };
}
