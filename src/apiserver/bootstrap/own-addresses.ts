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
  joined(present: readonly string[] | undefined): Promise<readonly string[]>;
  /** Returns the addresses that remain after shutdown; undefined if they stay as they are. */
  readonly left: ((present: readonly string[] | undefined) => Promise<readonly string[]>) | undefined;
  /** Called before each reconciliation. */
  renew?(): Promise<void>;
  /** Called before the final reconciliation at shutdown. */
  end?(): Promise<void>;
}

export function ownAddresses(
  settings: ApiserverSettings,
  store: Store,
  storePrefix: string,
  shared: boolean,
): OwnAddresses {
  const own = publicAddress(settings);
  if (!shared) return loneAddress(own);
  if (settings.endpointReconcilerType === "master-count")
    return countedAddresses(own, settings.apiserverCount);
  return leasedAddresses(store, storePrefix, own);
}

const leaseSeconds = 30;

export const loneAddress = (own: string): OwnAddresses => ({
  joined: () => Promise.resolve([own]),
  left: undefined,
});

export function leasedAddresses(store: Store, storePrefix: string, own: string): OwnAddresses {
  const prefix = `${storePrefix}/masterleases/`;
  const key = prefix + own;
  const alive = async (): Promise<string[]> =>
    (await store.read({ prefix })).entries.map((entry) => entry.key.slice(prefix.length)).toSorted();
  return {
    joined: alive,
    left: alive,
    renew: async () => {
      await store.write({ key, value: Buffer.from(own), expect: "any", ttlSeconds: leaseSeconds });
    },
    end: async () => {
      await store.write({ key, value: null, expect: "any" });
    },
  };
}

export const countedAddresses = (own: string, count: number): OwnAddresses => ({
  joined: (present) => Promise.resolve(amongCounted(present, own, count)),
  left: (present = []) => Promise.resolve(present.filter((each) => each !== own)),
});

/**
 * If there are too many addresses, removes those that follow the server's own in sorted order; servers that
 * all do this converge.
 */
export function amongCounted(
  present: readonly string[] | undefined,
  own: string,
  count: number,
): readonly string[] {
  if (!present) return [own];
  if (present.includes(own) && present.length <= count) return present;
  const all = [...new Set([...present, own])].toSorted();
  const at = all.indexOf(own);
  const fromOwn = [...all.slice(at), ...all.slice(0, at)];
  const gone = new Set(fromOwn.slice(1, 1 + Math.max(0, all.length - count)));
  return all.filter((each) => !gone.has(each));
}
