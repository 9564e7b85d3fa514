// Determines the addresses behind the API server's own service. A server with a private store is the only
// one. Servers that share a store each keep a lease in it, and those with a lease are alive; or, with the
// older reconciler type master-count, each adds itself until the configured number of servers is reached.
import type { Store } from "#store";
import type { ApiserverSettings } from "../options/settings.ts";
import { publicAddress } from "../serving/secure-port.ts";

export interface OwnAddresses {
  /**
   * Returns all addresses while this server runs, given the recorded ones, or undefined if those are
   * unusable.
   */
  whileRunning(present: readonly string[] | undefined): Promise<readonly string[]>;
  /** Returns the addresses that remain after shutdown; undefined if they stay as they are. */
  readonly afterShutdown:
    | ((present: readonly string[] | undefined) => Promise<readonly string[]>)
    | undefined;
  /** Called before each reconciliation. */
  renew?(): Promise<void>;
  /** Called before the final reconciliation at shutdown. */
  release?(): Promise<void>;
}

export function ownAddresses(
  settings: ApiserverSettings,
  store: Store,
  storePrefix: string,
  shared: boolean,
): OwnAddresses {
  const own = publicAddress(settings);
  if (!shared) return singleAddress(own);
  if (settings.endpointReconcilerType === "master-count")
    return masterCountAddresses(own, settings.apiserverCount);
  return leasedAddresses(store, storePrefix, own);
}

const leaseSeconds = 30;

export const singleAddress = (own: string): OwnAddresses => ({
  whileRunning: () => Promise.resolve([own]),
  afterShutdown: undefined,
});

export function leasedAddresses(store: Store, storePrefix: string, own: string): OwnAddresses {
  const prefix = `${storePrefix}/masterleases/`;
  const key = prefix + own;
  const alive = async (): Promise<string[]> =>
    (await store.read({ prefix })).entries.map((entry) => entry.key.slice(prefix.length)).toSorted();
  return {
    whileRunning: alive,
    afterShutdown: alive,
    renew: async () => {
      await store.write({ key, value: Buffer.from(own), expect: "any", ttlSeconds: leaseSeconds });
    },
    release: async () => {
      await store.write({ key, value: null, expect: "any" });
    },
  };
}

export const masterCountAddresses = (own: string, count: number): OwnAddresses => ({
  whileRunning: (present) => Promise.resolve(limitToCount(present, own, count)),
  afterShutdown: (present = []) => Promise.resolve(present.filter((each) => each !== own)),
});

/**
 * If there are too many addresses, removes those that follow the server's own in sorted order; servers that
 * all do this converge.
 */
export function limitToCount(
  present: readonly string[] | undefined,
  own: string,
  count: number,
): readonly string[] {
  if (!present) return [own];
  if (present.includes(own) && present.length <= count) return present;
  const all = [...new Set([...present, own])].toSorted();
  const at = all.indexOf(own);
  const fromOwn = [...all.slice(at), ...all.slice(0, at)];
  const removed = new Set(fromOwn.slice(1, 1 + Math.max(0, all.length - count)));
  return all.filter((each) => !removed.has(each));
}
